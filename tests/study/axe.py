"""axe-core on a page: every rule of WCAG 2.2 A and AA, its good practices and those on trial, without an exception."""

from __future__ import annotations

from importlib.resources import files

SOURCE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
_RUN = """async () => {
  const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice", "experimental"];
  const rules = axe.getRules(tags).map((rule) => [rule.ruleId, { enabled: true }]);
  const found = await axe.run(document, {
    runOnly: tags, rules: Object.fromEntries(rules), resultTypes: ["violations"],
  });
  return found.violations.flatMap((rule) => rule.nodes.map((node) =>
    `${rule.id}: ${node.html.slice(0, 150)} ${node.any[0]?.message ?? node.all[0]?.message ?? ""}`));
}"""
# What comes in slowly, styles among it, is measured when it is there, not half seen.
_STILL = """async () => {
  if (document.readyState !== "complete") await new Promise((done) => addEventListener("load", done, { once: true }));
  await Promise.all(document.getAnimations().map((one) => one.finished.catch(() => {})));
}"""


def violations(page) -> list[str]:
    """What axe finds wrong with what a page shows now; the page is Chromium's or Firefox's."""
    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(f"() => {{ {SOURCE}; return null; }}")
    page.evaluate(_STILL)
    return page.evaluate(_RUN)
