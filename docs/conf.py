"""Settings of the documentation: make docs builds it into build/docs, for reading without a network."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from search_texts import add_search_texts, write_search_texts  # noqa: E402
from site_parts import is_internal, show_scenes  # noqa: E402

from phlexible import __version__  # noqa: E402

project = "phlexible"
author = "The phlexible developers"
copyright = author
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",  # formulas without a network: MathJax lies beside the pages
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["extra"]

# Markdown: headings have anchors as on the pages of a repository; formulas between dollar signs.
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 4

# Docstrings: sections "Args:", "Returns:" and so on; what is public is what phlexible/__init__.pyi lists.
autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_typehints = "none"  # docstrings say what is meant: shapes, units, axes
autodoc_preserve_defaults = True
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "inherited-members": True, "show-inheritance": False}
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True
napoleon_attr_annotations = False

# Examples run when they change; pictures of sphinx-gallery stay in docs/tutorials until then.
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "tutorials",
    "filename_pattern": r"\d\d_.*\.py",
    "within_subsection_order": "site_parts.example_order",
    "image_scrapers": ("site_parts.written_files",),
    "reset_modules": (),
    "capture_repr": (),
    "remove_config_comments": True,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "abort_on_example_error": True,
}
suppress_warnings = [
    "config.cache",  # functions of the settings above cannot be kept
    "ref.python",  # lists of attributes link to names that several classes have
]

html_theme = "pydata_sphinx_theme"
html_title = "phlexible"
html_static_path = ["_static"]
html_extra_path = ["extra"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navigation_with_keys": False,
    "show_prev_next": True,
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_toc_level": 2,
}
html_sidebars = {
    name: [] for name in ("index", "gallery/*", "tutorials/*", "api/generated/*", "theory", "theory/*")
}
templates_path = ["_templates"]


def setup(app) -> None:
    """The reference is of what users call; thumbnails of tutorials are replaced after sphinx-gallery wrote them."""
    app.connect("autodoc-skip-member", is_internal)
    app.connect("builder-inited", show_scenes, priority=900)
    app.connect("html-page-context", add_search_texts)
    app.connect("build-finished", write_search_texts)
