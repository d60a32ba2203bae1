"""Views drawn with Altair, one chart a file, and turned into SVG and PNG without a browser."""
