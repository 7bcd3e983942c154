"""Services that recruit raters: their submissions beside ours, approved, rejected and sent back from here."""
