"""What is kept: tables (`schema`), the database that holds them (`database`), and the one writer (`writer`).

`answer` is the log: rows are added, never changed, but for the redaction of a rater who asks for it. Raters, surveys,
redactions and backups are records of their own. Pool, leases, models and curves are derived: they can be thrown away.
"""
