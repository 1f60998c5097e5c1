/** Everybody Micwatch can listen to. */

import { lectrosonics } from './lectrosonics/index.ts'
import type { Plugin } from './plugin.ts'
import { sennheiser } from './sennheiser/index.ts'
import { shure } from './shure/index.ts'

export const plugins: readonly Plugin[] = [shure, sennheiser, lectrosonics]

/** Of the form whose ids begin so; of all others 0. */
export function precedenceOfId(id: string): number {
  return ranked.find(({ idPrefix = '' }) => id.startsWith(idPrefix))?.precedence ?? 0
}

const ranked = plugins.flatMap(({ adapters }) => adapters.filter(({ precedence, idPrefix }) => precedence && idPrefix))

/** Throws the specification's sentence for a code nobody answers to. */
export function getPlugin(code: string): Plugin {
  const plugin = plugins.find((one) => one.code === code)
  if (plugin === undefined) throw new RangeError(`No plugin found for manufacturer code: ${code}`)
  return plugin
}
