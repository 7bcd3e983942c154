// Three cards: which is most like the two others? The page is that of the odd one out.

import odd_one_out from "./odd_one_out.js";

export default function most_central(views, setup, answer) {
  return odd_one_out(views, setup, answer);
}
