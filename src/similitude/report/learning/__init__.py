"""From answers to a report: `findings` computes, `page` writes it as one HTML page, `methods` says what was done.

`figures` draws, `atlas` makes the map that can be pointed at.
"""
