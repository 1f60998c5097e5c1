import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** Whether `node`, with these flags of V8, uses the code cache of the program in the folder `dist`. */
export function usesCodeCache(
  dist: string,
  { node = process.execPath, flags = [] }: { node?: string; flags?: readonly string[] },
): boolean {
  const folder = pathToFileURL(join(dist, '/')).href
  const script = `
    import { compileProgram } from '${folder}start.js'
    console.log(compileProgram(new URL('${folder}')).isCached)`
  // Without other flags of V8, with which no code cache is used.
  const { NODE_OPTIONS: _, ...env } = process.env
  const args = [...flags, '--input-type=module', '--eval', script]
  return spawnSync(node, args, { encoding: 'utf8', env }).stdout === 'true\n'
}
