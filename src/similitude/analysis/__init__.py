"""From answers to a report: `learn` finds out, `page` and its templates write it as one HTML page, `folder` as files.

`summary` says it in a few sentences, `paper` what was done, `figures` draws, `atlas` is the map that can be pointed at.
"""
