import { findModelStatus, type ModelStatus, type ReportedModel } from '../domain/equipment/model-status.ts'
import type { Receiver } from '../domain/equipment/receiver.ts'
import { isIngestedId } from '../domain/identity/ingested-receivers.ts'
import { audioTechnica } from './audio_technica/index.ts'
import { clearcom } from './clearcom/index.ts'
import { dpa } from './dpa/index.ts'
import { ingest } from './ingest/index.ts'
import { lectrosonics } from './lectrosonics/index.ts'
import { micwatch } from './micwatch/index.ts'
import type { Plugin } from './plugin.ts'
import { sennheiser } from './sennheiser/index.ts'
import { shure } from './shure/index.ts'

export const plugins: readonly Plugin[] = [
  shure,
  sennheiser,
  lectrosonics,
  audioTechnica,
  dpa,
  clearcom,
  ingest,
  micwatch,
]

/** Returns the precedence of the adapter with this id prefix, or 0. Reports from scripts have the lowest precedence. */
export function precedenceOfId(id: string): number {
  if (isIngestedId(id)) return -1
  return adaptersWithPrecedence.find(({ idPrefix = '' }) => id.startsWith(idPrefix))?.precedence ?? 0
}

const adaptersWithPrecedence = plugins.flatMap(({ adapters }) =>
  adapters.filter(({ precedence, idPrefix }) => precedence && idPrefix),
)

/**
 * Throws a RangeError for an unknown code, with the wording that the interface specification prescribes (see
 * docs/conformance.md).
 */
export function getPlugin(code: string): Plugin {
  const plugin = plugins.find((candidate) => candidate.code === code)
  if (plugin === undefined) throw new RangeError(`No plugin found for manufacturer code: ${code}`)
  return plugin
}

/** Returns the lowest audio level in dBFS that a receiver can report, if it is above -60; otherwise null. */
export function audioFloorOf(receiver: Pick<Receiver, 'manufacturer' | 'device_type'>): number | null {
  const plugin = plugins.find(({ code }) => code === receiver.manufacturer)
  return plugin?.audioFloors?.get(receiver.device_type) ?? null
}

/** Returns how far the model has been verified; null for equipment that no plugin describes. */
export function modelStatusOf(manufacturer: string, reported: ReportedModel): ModelStatus | null {
  const plugin = plugins.find(({ code }) => code === manufacturer)
  return findModelStatus(plugin?.modelStatus ?? [], reported)
}

/** True for the plugin that follows other installations of Micwatch. */
export function followsSites(code: string): boolean {
  return plugins.some((plugin) => plugin.code === code && plugin.adapters.some(({ follow }) => follow !== undefined))
}
