/* The page that says that Silas is not running, in the owner's language. */

import { translate } from "./words.js";

translate(document.body);
