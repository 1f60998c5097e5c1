/**
 * The first file to run: it refuses a version of Node.js that cannot run the program, before anything else is loaded.
 * Every version has to be able to read it, so the build turns it into ECMAScript 5 and fails where it cannot.
 */

// As in package.json: alternatives of the form ^major.minor.patch or >=major.minor.patch.
var alternatives = __MICWATCH_NODE_RANGE__.split(' || ')
var version = process.versions.node

function numbersIn(text: string): number[] {
  return text.replace(/^\D+/, '').split('.').map(parseFloat)
}

function isAtLeast(own: number[], least: number[]): boolean {
  var at = 0
  while (at < 2 && own[at] === least[at]) at++
  return Number(own[at]) >= Number(least[at])
}

function isMet(alternative: string): boolean {
  var own = numbersIn(version)
  var least = numbersIn(alternative)
  return isAtLeast(own, least) && (alternative.charAt(0) !== '^' || own[0] === least[0])
}

function describe(alternative: string): string {
  var least = alternative.replace(/^\D+/, '')
  return alternative.charAt(0) === '^' ? `${least.split('.')[0]}.x from ${least}` : `${least} or later`
}

if (alternatives.some(isMet)) {
  // biome-ignore lint/security/noGlobalEval: written out, import() is a syntax error before Node.js 10.
  eval("import('./program.js')")
} else {
  console.error(`micwatch: Node.js ${version} is not supported. Install ${alternatives.map(describe).join(', or ')}.`)
  process.exitCode = 1
}
