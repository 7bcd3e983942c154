"""From answers to a report: `learn` finds out, `page` and its templates write it as one HTML page and as a folder.

`summary` says it in a few sentences, `paper` what was done, `figures` draws, `atlas` is the map that can be pointed at;
`consistency` is the page of `check`.
"""
