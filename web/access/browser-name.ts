/** The order matters, because most browsers also name those that they resemble. */
const browsers = [
  ['Edge', /\bEdg(e|A|iOS)?\//],
  ['Opera', /\bOPR\//],
  ['Firefox', /\b(Firefox|FxiOS)\//],
  ['Chrome', /\b(Headless)?Chrome\/|\bCriOS\//],
  ['Safari', /\bSafari\//],
] as const

const systems = [
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['Android', /\bAndroid\b/],
  ['Windows', /\bWindows\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['macOS', /\bMacintosh\b/],
  ['Linux', /\bLinux\b/],
] as const

/** "Chrome · Windows", or the whole header of anything else. */
export function browserOf(agent: string): string {
  const [browser, system] = [browsers, systems].map((names) => names.find(([, pattern]) => pattern.test(agent))?.[0])
  if (browser === undefined) return agent
  return system === undefined ? browser : `${browser} · ${system}`
}
