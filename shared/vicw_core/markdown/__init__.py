"""What a Markdown page contains: front matter, headings, links."""
