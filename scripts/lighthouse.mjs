// Pairs a browser with a running Silas and scores its screens; started by scripts/lighthouse.py.
import lighthouse, { desktopConfig } from "lighthouse";
import puppeteer from "puppeteer-core";

const [link, chromium, profile, rounds] = process.argv.slice(2);
const home = new URL(link).origin;
const SCREENS = ["/", "/#/review", "/#/activity", "/#/more"];
const ASKED = ["performance", "accessibility", "best-practices"];

const browser = await puppeteer.launch({
  executablePath: chromium, userDataDir: profile, args: ["--no-sandbox", "--headless=new"],
});
const first = await browser.newPage();
await first.goto(link);
const button = await first.waitForSelector("button:not([disabled])");
await Promise.all([first.waitForNavigation(), button.click()]);
await first.close();

const port = new URL(browser.wsEndpoint()).port;
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
for (const form of ["mobile", "desktop"]) {
  for (const screen of SCREENS) {
    const scores = [];
    for (let tries = 0; scores.length < Number(rounds); tries += 1) {
      const page = await browser.newPage();
      const options = { port, disableStorageReset: true, onlyCategories: ASKED, logLevel: "error" };
      const { lhr } = await lighthouse(home + screen, options, form === "desktop" ? desktopConfig : undefined, page);
      await page.close();
      if (!lhr.runtimeError) scores.push(ASKED.map((name) => Math.round(lhr.categories[name].score * 100)));
      else if (tries >= 2 * Number(rounds)) throw new Error(lhr.runtimeError.message); // it loses a trace now and then
    }
    const middle = ASKED.map((_, at) => median(scores.map((one) => one[at])));
    console.log(JSON.stringify({ form, screen, scores: Object.fromEntries(ASKED.map((name, at) => [name, middle[at]])) }));
  }
}
await browser.close();
