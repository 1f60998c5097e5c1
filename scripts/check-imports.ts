/**
 * Checks that imports follow the table of layers below, that there are no import cycles (including type imports), and
 * that only entry points and tests use `process`. Part of `npm run check`; ARCHITECTURE.md has a diagram of the layers.
 */

import { readdirSync, readFileSync, realpathSync } from 'node:fs'
import { extname, join, posix, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync } from 'vite'

/**
 * For each layer, the layers it may import besides its own folder. A name includes the folders below it.
 * `manufacturers/x` is the folder of any manufacturer, `manufacturers/x/test` the tests in it; the suffix `:types`
 * permits only type imports.
 */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  contract: ['domain'],
  domain: ['contract'],
  platform: [],
  upstream: ['domain', 'platform'],
  'manufacturers/plugin': ['upstream', 'domain'],
  'manufacturers/device-session': ['manufacturers/plugin', 'upstream'],
  'manufacturers/x': [
    'manufacturers/plugin',
    'manufacturers/device-session',
    'contract',
    'upstream',
    'domain',
    'platform',
  ],
  'manufacturers/x/test': ['manufacturers/plugin', 'manufacturers/sources', 'upstream', 'domain', 'simulators'],
  'manufacturers/index': ['manufacturers/plugin', 'manufacturers/x', 'domain'],
  'manufacturers/sources': ['manufacturers/plugin', 'manufacturers/index', 'upstream', 'domain'],
  'manufacturers/probe': ['manufacturers/plugin', 'manufacturers/sources', 'upstream', 'domain', 'platform'],
  'manufacturers/search': ['manufacturers/plugin', 'manufacturers/probe', 'upstream', 'domain', 'platform'],
  'manufacturers/detect': ['manufacturers/plugin', 'manufacturers/probe', 'upstream', 'domain', 'platform'],
  'manufacturers/replay-server': ['upstream'],
  'manufacturers/replay': [
    'manufacturers/plugin',
    'manufacturers/index',
    'manufacturers/replay-server',
    'upstream',
    'domain',
  ],
  'manufacturers/check-access': ['manufacturers/detect', 'manufacturers/sources', 'upstream'],
  'manufacturers/test': ['manufacturers', 'upstream', 'domain', 'simulators'],
  storage: ['contract', 'history/levels', 'domain', 'platform'],
  'history/levels': ['storage', 'domain', 'platform'],
  'alerts/services': ['contract', 'upstream', 'domain', 'platform'],
  subsystems: [
    'contract',
    'alerts/services',
    'history/levels',
    'config:types',
    'service:types',
    'manufacturers',
    'upstream',
    'storage',
    'domain',
    'platform',
  ],
  // Registered by `http`, which provides the query parser and the client's key.
  'live/routes': ['contract', 'service:types', 'actions:types', 'http', 'subsystems', 'domain', 'platform'],
  actions: [
    'contract',
    'service:types',
    'alerts/services',
    'subsystems',
    'manufacturers',
    'storage',
    'domain',
    'platform',
  ],
  integrations: [
    'contract:types',
    'config:types',
    'actions',
    'subsystems',
    'upstream',
    'storage',
    'service:types',
    'domain',
    'platform',
  ],
  http: [
    'contract',
    'config:types',
    'service:types',
    'actions',
    'live/routes',
    'manufacturers',
    'subsystems',
    'storage',
    'domain',
    'platform',
  ],
  config: ['domain', 'platform'],
  service: ['contract', 'subsystems', 'manufacturers', 'upstream', 'storage', 'config', 'domain', 'platform'],
  'http/app': [
    'contract',
    'http',
    'integrations',
    'service',
    'actions',
    'subsystems',
    'manufacturers',
    'storage',
    'config',
    'domain',
    'platform',
  ],
  cli: [
    'http/app',
    'contract',
    'service',
    'actions',
    'subsystems',
    'storage',
    'history/levels',
    'manufacturers',
    'simulators',
    'domain',
    'config',
    'platform',
  ],
  main: ['cli'],
  simulators: ['contract:types', 'manufacturers', 'upstream', 'domain', 'platform'],
  web: ['contract', 'domain'],
}

/** Each subsystem owns a part of the running service. They may import each other. */
const subsystems = [
  'audio',
  'sources',
  'ingest',
  'conditions',
  'alerts',
  'frequencies',
  'history',
  'sites',
  'lists',
  'live',
]

/** The modules of a manufacturer that other layers may import. */
const publicModules = /^src\/manufacturers\/([^/]+\.ts|[^/]+\/index\.ts)$/

/** Files that may use the global `process`, in addition to tests. */
const mayUseProcess = [
  'src/main.ts',
  'src/cli/program.ts',
  'src/storage/backup-reader.ts',
  'src/storage/database-copier.ts',
]

/** Layers that run in the browser. */
const browserLayers = ['contract', 'domain', 'web']

interface Import {
  readonly specifier: string
  readonly typesOnly: boolean
}

interface Module {
  readonly imports: readonly Import[]
  /** Line numbers of uses of the global `process`. */
  readonly processLines: readonly number[]
}

export interface Report {
  readonly modules: number
  readonly imports: number
  readonly violations: readonly string[]
}

/**
 * Checks the modules in src, simulators, web and test below `root`. Also reports a violation if there are fewer than
 * `minModules`, or very few imports, because then `root` is probably the wrong folder.
 */
export function checkImports(root: string, minModules: number): Report {
  const modules = readModules(root)
  const graph = new Map<string, string[]>()
  const violations: string[] = []
  let imports = 0

  for (const [file, module] of modules) {
    const targets: string[] = []
    for (const entry of module.imports) {
      imports++
      const target = resolveImport(file, entry.specifier, modules)
      if (target !== null) targets.push(target)
      const rule = target === null ? checkPackage(file, entry.specifier) : checkImport(file, target, entry.typesOnly)
      if (rule !== null) violations.push(`${file} -> ${target ?? entry.specifier}: ${rule}`)
    }
    graph.set(file, targets)
    if (isTest(file) || mayUseProcess.includes(file)) continue
    for (const line of module.processLines) {
      violations.push(`${file}:${line} -> process: only entry points may use it; pass values as arguments`)
    }
  }
  for (const cycle of findCycles(graph)) violations.push(`${cycle.join(' -> ')}: import cycle`)
  if (modules.size < minModules || imports < modules.size / 2) {
    violations.push(
      `found only ${modules.size} modules with ${imports} imports in ${root}; check that it is the root of the repository`,
    )
  }
  return { modules: modules.size, imports, violations }
}

function readModules(root: string): Map<string, Module> {
  const modules = new Map<string, Module>()
  for (const folder of ['src', 'simulators', 'web', 'test']) {
    for (const path of listFiles(join(root, folder))) {
      if (!/\.tsx?$/.test(path) || path.endsWith('.d.ts')) continue
      const file = `${folder}/${path}`
      modules.set(file, parseModule(file, readFileSync(join(root, file), 'utf8')))
    }
  }
  return modules
}

function listFiles(folder: string): string[] {
  try {
    const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    return paths.map((path) => path.split(sep).join('/')).sort()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

function parseModule(file: string, text: string): Module {
  const { program, errors } = parseSync(file, text)
  if (errors[0] !== undefined) throw new Error(`${file} cannot be parsed: ${errors[0].message}`)
  const imports: Import[] = []
  const processLines = new Set<number>()
  visit(program as unknown as Node, (node) => {
    const specifier = (node.source as Node | undefined)?.value
    if (typeof specifier === 'string') imports.push({ specifier, typesOnly: isTypesOnly(node) })
    if (isProcess(node) || specifier === 'node:process' || specifier === 'process') {
      processLines.add(text.slice(0, node.start).split('\n').length)
    }
  })
  return { imports, processLines: [...processLines] }
}

/** A node of the syntax tree (ESTree with TypeScript), with only the fields that the check uses. */
interface Node {
  readonly type: string
  readonly start: number
  readonly [field: string]: unknown
}

function visit(node: Node, onNode: (node: Node) => void): void {
  onNode(node)
  for (const [field, value] of Object.entries(node)) {
    // Property names, as in `x.process` or `{ process: 1 }`, are not references.
    if ((field === 'property' || field === 'key') && node.computed !== true) continue
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) visit(child, onNode)
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value
}

function isProcess(node: Node): boolean {
  if (node.type === 'Identifier') return node.name === 'process'
  if (node.type !== 'MemberExpression') return false
  const { name: object } = node.object as Node
  const { name, value } = node.property as Node
  return (object === 'globalThis' || object === 'global') && (name === 'process' || value === 'process')
}

function isTypesOnly(node: Node): boolean {
  if (node.type === 'TSImportType' || node.importKind === 'type' || node.exportKind === 'type') return true
  const specifiers = (node.specifiers ?? []) as readonly Node[]
  return (
    specifiers.length > 0 && specifiers.every((entry) => entry.importKind === 'type' || entry.exportKind === 'type')
  )
}

/** Returns the imported module, or null for packages, style sheets and other files. */
function resolveImport(file: string, specifier: string, modules: ReadonlyMap<string, Module>): string | null {
  if (!specifier.startsWith('.')) return null
  const path = posix.join(posix.dirname(file), specifier)
  const candidates = [path, path.replace(/\.js(x?)$/, '.ts$1'), `${path}.ts`, `${path}.tsx`, `${path}/index.ts`]
  return candidates.find((entry) => modules.has(entry)) ?? (/\.tsx?$/.test(path) ? path : null)
}

function checkPackage(file: string, specifier: string): string | null {
  if (!specifier.startsWith('node:') || isTest(file) || !browserLayers.includes(layerOf(file))) return null
  return `${layerOf(file)} runs in the browser and may not import Node.js modules`
}

function checkImport(file: string, target: string, typesOnly: boolean): string | null {
  if (file.startsWith('test/')) return null
  if (target.startsWith('test/') && isTest(file)) return null
  if (isTest(target)) return 'only tests may import test code'
  const from = layerOf(file)
  const to = layerOf(target)
  const allowed = mayImport[from]
  if (allowed === undefined) return `${from} has no row in the table of scripts/check-imports.ts`

  const fromManufacturer = manufacturerOf(file)
  const toManufacturer = manufacturerOf(target)
  if (toManufacturer !== null && fromManufacturer !== null)
    return fromManufacturer === toManufacturer ? null : 'a manufacturer may not import another manufacturer'
  if (toManufacturer !== null && !publicModules.test(target) && from !== 'simulators')
    return `other layers may import only index.ts of ${toManufacturer}`
  if (from === to) return null

  const covers = (name: string) => to === name || to.startsWith(`${name}/`)
  if (allowed.some(covers)) return null
  if (allowed.some((name) => name.endsWith(':types') && covers(name.replace(':types', '')))) {
    return typesOnly ? null : `${from} may import only types of ${to}`
  }
  return `${from} may import ${allowed.join(', ') || 'nothing'}; not ${to}`
}

/** Returns the layer of a file, which is a key of `mayImport`. */
function layerOf(file: string): string {
  const path = file.replace(/\.(test|bench)(?=\.tsx?$)/, '').slice(0, -extname(file).length)
  const [top = '', folder = '', name, inner] = path.split('/')
  if (top !== 'src') return top
  if (folder === 'http' && name === 'app') return 'http/app'
  if (inner !== undefined && ['alerts', 'history', 'live'].includes(folder)) return `${folder}/${name}`
  if (subsystems.includes(folder)) return 'subsystems'
  if (folder !== 'manufacturers' || name === undefined) return folder
  // A test may import everything that the files next to it may import.
  if (inner === undefined) return isTest(file) ? 'manufacturers/test' : `manufacturers/${name}`
  return isTest(file) ? 'manufacturers/x/test' : 'manufacturers/x'
}

function manufacturerOf(file: string): string | null {
  return /^src\/manufacturers\/([^/]+)\//.exec(file)?.[1] ?? null
}

function isTest(file: string): boolean {
  return file.startsWith('test/') || /\.test\.tsx?$/.test(file)
}

/** Returns at least one cycle of every strongly connected component, each as the list of its files. */
function findCycles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const cycles: string[][] = []
  const done = new Set<string>()
  const path: string[] = []
  const walk = (file: string) => {
    if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file])
    if (path.includes(file) || done.has(file)) return
    path.push(file)
    for (const target of graph.get(file) ?? []) walk(target)
    path.pop()
    done.add(file)
  }
  for (const file of graph.keys()) walk(file)
  return cycles
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const { modules, imports, violations } = checkImports(process.cwd(), 40)
  for (const violation of violations) console.error(violation)
  console.log(`${modules} modules, ${imports} imports, ${violations.length} violations`)
  process.exitCode = violations.length > 0 ? 1 : 0
}
