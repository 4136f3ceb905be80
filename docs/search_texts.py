"""Words of all pages for the search, which shows parts of pages without a server."""

import json
from html import escape
from pathlib import Path

from docutils import nodes


def _searchable(node: nodes.Node) -> str:
    """The words below a node of a page as HTML, with the sections that hits of a search name; without formulas."""
    if isinstance(node, nodes.Text):
        return escape(node.astext())
    if isinstance(node, nodes.math | nodes.math_block | nodes.raw | nodes.comment):
        return ""
    words = "".join(map(_searchable, node.children))
    if isinstance(node, nodes.section):
        return f'<section id="{node["ids"][0]}">{words}</section>'
    return words if isinstance(node, nodes.Inline) else f"{words} "


def write_search_texts(app, exception: Exception | None) -> None:
    """Write the words of all pages beside the index of the search, which shows parts of them without a server."""
    if exception is None and app.builder.format == "html":
        texts = {name: _searchable(app.env.get_doctree(name)) for name in sorted(app.env.found_docs)}
        script = f"const SEARCH_TEXTS = {json.dumps(texts, ensure_ascii=False)};\n"
        (Path(app.outdir) / "_static" / "search_texts.js").write_text(script, encoding="utf-8")


def add_search_texts(app, pagename: str, templatename: str, context: object, doctree: object) -> None:
    """Give the page of the search the words of all pages."""
    if pagename == "search":
        app.add_js_file("search_texts.js")
        app.add_js_file("search_excerpts.js")
