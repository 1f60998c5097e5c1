/**
 * `npm run structure`: prints the size of the source and how many files an addition touches. For an addition, it counts
 * the files that name an existing example. Tests, fixtures, catalogues of translations and documents are not counted.
 */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

interface SourceFile {
  readonly path: string
  readonly text: string
}

function readSources(folder: string): SourceFile[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path) && !/\.test\.tsx?$|(^|\/)fixtures\//.test(path))
    .map((path) => ({ path: `${folder}/${path}`, text: readFileSync(join(root, folder, path), 'utf8') }))
}

const [src, web] = [readSources('src'), readSources('web')]
const all = [...src, ...web, ...readSources('simulators')]

function count(files: readonly SourceFile[], pattern: RegExp): number {
  return files.reduce((sum, { text }) => sum + (text.match(pattern)?.length ?? 0), 0)
}

function filesNaming(pattern: RegExp, files = all): number {
  return files.filter(({ text }) => pattern.test(text)).length
}

/** Returns how many files that compose the service declare the same subsystem, at most. */
function placesOfSubsystem(): number {
  const composing = src.filter(({ path }) => /^src\/(service(\.ts|\/)|http\/app)/.test(path))
  const service = src.find(({ path }) => path === 'src/service.ts')?.text ?? ''
  const classes = [...service.matchAll(/import (?:type )?\{ (\w+)[^}]*\} from '\.\/\w+\/[\w/-]+\.ts'/g)].map(
    ([, name]) => name,
  )
  const fields = [...service.matchAll(/^ {2}readonly (\w+)(?:: (\w+)| = new (\w+))/gm)]
  const subsystems = fields.flatMap(([, name = '', type, created]) => (classes.includes(type ?? created) ? name : []))
  return Math.max(...subsystems.map((name) => filesNaming(new RegExp(`readonly ${name}\\b`), composing)))
}

const outsideFolder = all.filter(({ path }) => !path.startsWith('src/manufacturers/lectrosonics/'))

const rows: readonly (readonly [string, number, string])[] = [
  ['lines of src without tests', count(src, /\n/g), '≤ 84,000'],
  ['files of src without tests', src.length, '≤ 620'],
  ['…Deps interfaces', count(src, /interface \w+Deps\b/g), '≤ 20'],
  ['Pick<', count([...src, ...web], /Pick</g), '≤ 60'],
  ['files that declare the same subsystem', placesOfSubsystem(), '1'],
  ['REST resource, live and exported (frequency profile)', filesNaming(/frequencyProfile|FrequencyProfile/), '≤ 9'],
  ['alert kind (charger_fault)', filesNaming(/\bcharger_fault\b/), '≤ 3'],
  ['notification service (gotify)', filesNaming(/gotify/i), '≤ 4'],
  ['setting on a page (BATTERY_REPLACE_SOON)', filesNaming(/BATTERY_REPLACE_SOON/), '≤ 3'],
  ['manufacturer, outside its folder (lectrosonics)', filesNaming(/lectrosonics/i, outsideFolder), '2'],
]

const width = Math.max(...rows.map(([what]) => what.length))
console.log(`${''.padEnd(width)}      now  goal`)
for (const [what, now, goal] of rows) {
  console.log(`${what.padEnd(width)}  ${now.toLocaleString('en').padStart(7)}  ${goal}`)
}
