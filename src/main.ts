/**
 * The entry file. Checks the Node.js version before it loads anything else. Old versions must be able to parse it, so the
 * build converts it to ECMAScript 5, or fails if that is not possible.
 */

// The range in package.json consists of alternatives of the form ^major.minor.patch or >=major.minor.patch.
var alternatives = __MICWATCH_NODE_RANGE__.split(' || ')
var version = process.versions.node

function parseVersion(text: string): number[] {
  return text.replace(/^\D+/, '').split('.').map(parseFloat)
}

function isAtLeast(actual: number[], minimum: number[]): boolean {
  var index = 0
  while (index < 2 && actual[index] === minimum[index]) index++
  return Number(actual[index]) >= Number(minimum[index])
}

function isSatisfied(alternative: string): boolean {
  var actual = parseVersion(version)
  var minimum = parseVersion(alternative)
  return isAtLeast(actual, minimum) && (alternative.charAt(0) !== '^' || actual[0] === minimum[0])
}

function describe(alternative: string): string {
  var minimum = alternative.replace(/^\D+/, '')
  return alternative.charAt(0) === '^' ? `${minimum.split('.')[0]}.x from ${minimum}` : `${minimum} or later`
}

if (alternatives.some(isSatisfied)) {
  void import('./cli/program.ts')
} else {
  console.error(`micwatch: Node.js ${version} is not supported. Install ${alternatives.map(describe).join(', or ')}.`)
  process.exitCode = 1
}
