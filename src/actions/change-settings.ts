/** Changes settings while the service runs: global settings, and those of a manufacturer or a group. */

import type { ConfigBody } from '../contract/configuration.ts'
import {
  defaultSettings,
  isSettingKey,
  type SettingKey,
  type Settings,
  settingKeys,
  settingKinds,
} from '../contract/settings.ts'
import type { Region } from '../contract/values.ts'
import type { Actor } from '../domain/access/access.ts'
import { RequestError } from '../domain/errors.ts'
import { parseTvInUse } from '../domain/frequencies/tv-raster.ts'
import { findConflict, globalScope, parseSetting, type SettingRecord, type SettingScope } from '../domain/settings.ts'
import type { RequireVersion } from '../domain/versions.ts'
import { now } from '../platform/clock.ts'
import type { Service } from '../service.ts'
import { writeAudit } from '../storage/audit.ts'
import { type Change, insertChanges } from '../storage/changes.ts'
import type { Tx } from '../storage/database.ts'
import { deleteSetting, saveSetting, scopeName } from '../storage/settings.ts'
import { editRecords } from './edit-records.ts'

/** Stores a setting, and returns the effective values of its scope. Throws a RequestError that names an invalid field. */
export async function changeSetting(
  service: Service,
  actor: Actor,
  change: SettingRecord,
  requireVersion: RequireVersion<ConfigBody>,
): Promise<ConfigBody> {
  const { key, value, manufacturer, group } = change
  requireKey(key)
  if (group !== null && !settingKinds[key].isPerGroup) {
    throw new RequestError('bad_request', { details: `group: ${key} cannot be set for a group` })
  }
  if (manufacturer !== null && !settingKinds[key].isPerManufacturer) {
    throw new RequestError('bad_request', { details: `manufacturer: ${key} cannot be set for a manufacturer` })
  }
  const parsed = parseSetting(key, value)
  if (!parsed.ok) throw new RequestError('bad_request', { details: `value: ${key} expects ${parsed.expected}` })
  requireConsistent(service, key, parsed.value)
  await editSettings(service, change, requireVersion, async (tx) => {
    const before = service.settings.inScope(change)[key]
    await saveSetting(tx, { manufacturer, group, key, value })
    await writeAudit(tx, {
      actor,
      action: 'settings.change',
      target: targetOf(change),
      result: 'ok',
      details: { key, manufacturer, group, before, after: parsed.value },
    })
    await recordChange(service, tx, actor, change, { before, after: parsed.value })
  })
  return service.settings.toBody(change)
}

/**
 * Deletes a stored value, so that the value that it overrode applies again. Throws a RequestError when no value is
 * stored.
 */
export async function forgetSetting(
  service: Service,
  actor: Actor,
  setting: Omit<SettingRecord, 'value'>,
  requireVersion: RequireVersion<ConfigBody>,
): Promise<void> {
  const { key, manufacturer, group } = setting
  const target = targetOf(setting)
  if (isSettingKey(key) && manufacturer === null && group === null)
    requireConsistent(service, key, defaultSettings[key])
  await editSettings(service, setting, requireVersion, async (tx) => {
    const before = service.settings.inScope(setting)
    const outer = manufacturer === null && group === null ? defaultSettings : service.settings.inScope(globalScope)
    if (!(await deleteSetting(tx, setting))) throw new RequestError('not_found', { subject: `setting ${target}` })
    const details = { key, manufacturer, group }
    await writeAudit(tx, { actor, action: 'settings.forget', target, result: 'ok', details })
    if (isSettingKey(key)) await recordChange(service, tx, actor, setting, { before: before[key], after: outer[key] })
  })
}

function editSettings(
  service: Service,
  scope: SettingScope,
  requireVersion: RequireVersion<ConfigBody>,
  edit: (tx: Tx) => Promise<void>,
): Promise<void> {
  return editRecords(service, 'versions', async (tx) => {
    // Another process may have changed them before this transaction began.
    await service.reload()
    const isGlobal = scope.manufacturer === null && scope.group === null
    requireVersion(service.settings.toBody(scope), isGlobal ? 'the settings' : `the settings of ${scopeName(scope)}`)
    await edit(tx)
  })
}

/** Records a change for the handover. */
async function recordChange(
  { lists }: Service,
  tx: Tx,
  actor: Actor,
  { key, manufacturer, group }: Omit<SettingRecord, 'value'>,
  { before, after }: Pick<Change, 'before' | 'after'>,
): Promise<void> {
  if (before === after) return
  const title = group === null ? manufacturer : (lists.current.groups.find(({ id }) => id === group)?.title ?? null)
  const change = { at: now(), by: actor.name, what: 'setting', target: key, slot: null } as const
  await insertChanges(tx, [{ ...change, title, before, after }])
}

/** Throws a RequestError if the value contradicts the other global values. */
function requireConsistent(service: Service, key: SettingKey, value: Settings[SettingKey]): void {
  const settings = service.settings.inScope(globalScope)
  if (key === 'TV_IN_USE') requireTvChannels(settings.REGION, String(value))
  const conflict = findConflict({ ...settings, [key]: value })
  if (conflict !== null) throw new RequestError('bad_request', { details: `value: ${conflict}` })
}

function requireTvChannels(region: Region, text: string): void {
  const { unknown } = parseTvInUse(region, text)
  if (unknown.length === 0) return
  const details = `value: expected TV channels of the region ${region}; ${unknown.join(', ')} is unknown`
  throw new RequestError('bad_request', { details })
}

/** Throws a RequestError that lists the known keys. */
export function requireKey(key: string): asserts key is SettingKey {
  if (isSettingKey(key)) return
  throw new RequestError('bad_request', { details: `key: expected one of ${settingKeys.join(', ')}` })
}

function targetOf({ key, manufacturer, group }: Omit<SettingRecord, 'value'>): string {
  if (group !== null) return `${key} of group ${group}`
  return manufacturer === null ? key : `${key} of manufacturer ${manufacturer}`
}
