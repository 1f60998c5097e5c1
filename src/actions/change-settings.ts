/** Changes settings while the service runs: global settings and settings of one manufacturer. */

import type { Settings } from '../contract/resources/settings.ts'
import type { Actor } from '../domain/access/access.ts'
import { RequestError } from '../domain/errors.ts'
import { isSettingKey, parseSetting, settingKinds } from '../domain/settings.ts'
import { writeAudit } from '../storage/audit.ts'
import type { Database } from '../storage/database.ts'
import { deleteSetting, saveSetting } from '../storage/settings.ts'

export interface SettingsDeps {
  readonly db: Database
  /** Returns the effective values for a manufacturer; null selects the global values. */
  settings(manufacturer: string | null): Settings
  /** Loads the stored changes immediately. */
  reload(): Promise<void>
}

export interface SettingChange {
  readonly key: string
  /** The value as text, whatever the type of the setting. */
  readonly value: string
  /** Null for a global setting. */
  readonly manufacturer: string | null
}

/**
 * Stores a setting, and returns the effective values of its scope. Throws a RequestError that names the invalid field.
 */
export async function changeSetting(deps: SettingsDeps, actor: Actor, change: SettingChange): Promise<Settings> {
  const { key, value, manufacturer } = change
  if (!isSettingKey(key)) {
    const known = Object.keys(settingKinds).join(', ')
    throw new RequestError('bad_request', { details: `key: expected one of ${known}` })
  }
  const parsed = parseSetting(key, value)
  if (!parsed.ok) throw new RequestError('bad_request', { details: `value: ${key} expects ${parsed.expected}` })
  const before = deps.settings(manufacturer)[key]
  await deps.db.transaction(async (tx) => {
    await saveSetting(tx, { manufacturer, key, value })
    await writeAudit(tx, {
      actor,
      action: 'settings.change',
      target: targetOf(change),
      result: 'ok',
      details: { key, manufacturer, before, after: parsed.value },
    })
  })
  await deps.reload()
  return deps.settings(manufacturer)
}

/**
 * Deletes a stored value, so that the value that it overrode applies again. Throws a RequestError when no value is
 * stored.
 */
export async function forgetSetting(
  deps: SettingsDeps,
  actor: Actor,
  { key, manufacturer }: Omit<SettingChange, 'value'>,
): Promise<void> {
  const target = targetOf({ key, manufacturer })
  await deps.db.transaction(async (tx) => {
    if (!(await deleteSetting(tx, { manufacturer, key })))
      throw new RequestError('not_found', { subject: `setting ${target}` })
    await writeAudit(tx, { actor, action: 'settings.forget', target, result: 'ok', details: { key, manufacturer } })
  })
  await deps.reload()
}

function targetOf({ key, manufacturer }: Omit<SettingChange, 'value'>): string {
  return manufacturer === null ? key : `${key} of manufacturer ${manufacturer}`
}
