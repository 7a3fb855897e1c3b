// The theme puts every copy button into a navigation without a name, and code that scrolls cannot always get the focus.
let blocks = 0;

function repair() {
  for (const each of document.querySelectorAll("nav.md-code__nav:not([aria-label])")) {
    blocks += 1;
    each.setAttribute("aria-label", `code ${blocks}`);
  }
  for (const each of document.querySelectorAll("pre > code:not([tabindex])")) {
    each.tabIndex = 0;
  }
}

const changes = { childList: true, subtree: true, attributes: true, attributeFilter: ["tabindex"] };
new MutationObserver(repair).observe(document.documentElement, changes);
repair();
