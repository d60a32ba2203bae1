"""What all pages and terminal tables share: frame, style, drawing, numbers and tables. It knows no run."""
