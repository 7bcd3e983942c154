// Addresses that others are given: the server names no host, since a request may name any; this browser knows it.
"use strict";

for (const one of document.querySelectorAll("[data-path]")) {
  one.textContent = one.textContent.replace(one.dataset.path, location.origin + one.dataset.path);
}
