"""The study: a web server that asks people, learns live and loses nothing.

It imports the library and is never imported by it. `settings` is what the researcher wrote, `store` what is kept,
`service` what happens to a rater, `worker` the process that learns, `web` what is seen.
"""
