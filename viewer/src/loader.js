// Unpacks the viewer and runs it, before the page says that it is loaded.
import { inflated } from "./inflate.js";

const script = document.createElement("script");
script.textContent = new TextDecoder().decode(inflated(document.getElementById("viewer").textContent.trim()));
document.head.append(script);
