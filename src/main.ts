/**
 * The entry file. Checks the Node.js version before it loads anything else. Every Node.js version must be able to parse
 * it, so the build converts it to ECMAScript 5, or fails if that is not possible.
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

/**
 * Gives the background threads of V8, which compile and collect garbage, a lower priority than the main thread. With few
 * cores they otherwise take turns with it: with two cores, following 500 receivers takes a seventh longer. No other thread
 * runs this early. Only Linux has a priority for each thread.
 */
function lowerPriorityOfBackgroundThreads(): void {
  if (process.platform !== 'linux') return
  try {
    process.getBuiltinModule('fs').readdirSync('/proc/self/task').map(Number).forEach(lowerPriority)
  } catch {
    // Micwatch also runs with equal priorities.
  }
}

function lowerPriority(thread: number): void {
  var os = process.getBuiltinModule('os')
  if (thread !== process.pid)
    os.setPriority(thread, Math.min(os.getPriority() + 10, os.constants.priority.PRIORITY_LOW))
}

if (alternatives.some(isSatisfied)) {
  lowerPriorityOfBackgroundThreads()
  // biome-ignore lint/security/noGlobalEval: a literal import() is a syntax error before Node.js 10.
  eval("import('./start.js').then(({ start }) => start())")
} else {
  console.error(`micwatch: Node.js ${version} is not supported. Install ${alternatives.map(describe).join(', or ')}.`)
  process.exitCode = 1
}
