/** What is built in from other people's packages goes with their licences. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Each package these files came from, by name and version, with the words of its licence. `files`: below `root`. */
export function licencesOf(files: Iterable<string>, root: string): string {
  const folders = new Set<string>()
  for (const file of files) {
    const [, folder] = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file) ?? []
    if (folder !== undefined) folders.add(folder)
  }
  const texts = [...folders].sort().map((folder) => licenceOf(join(root, folder)))
  return ['Micwatch is built with these packages.', ...new Set(texts)].join(`\n\n${'-'.repeat(80)}\n\n`)
}

function licenceOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one))
  const words = file === undefined ? '' : readFileSync(join(folder, file), 'utf8')
  return `${name} ${version} (${license ?? 'no licence named'})\n\n${words.trim()}`.trim()
}
