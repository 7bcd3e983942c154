"""Pages for people: one self-contained HTML file each."""
