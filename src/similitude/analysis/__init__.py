"""From answers to a report: `learn` finds out, `page` and its templates write an HTML page, `folder` all beside it.

`summary` says it in a few sentences, `paper` what was done, `figures` draws, `atlas` is the map that can be pointed at,
`people` asks whether raters, groups, conditions and time matter, `columns` says what the columns of every table mean,
`changes` compares with an earlier report; `consistency` is the page of `check`.
"""
