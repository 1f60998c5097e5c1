/** Settings that take effect while the service runs: global ones, and those of one manufacturer. */

import type { Actor } from '../model/access.ts'
import { RequestError } from '../model/errors.ts'
import { isSettingKey, parseSetting, type Settings, settingKinds } from '../model/settings.ts'
import { writeAudit } from '../store/audit.ts'
import type { Database } from '../store/database.ts'
import { deleteSetting, saveSetting } from '../store/settings.ts'

export interface SettingsDeps {
  readonly db: Database
  /** The values in force; null: the global ones. */
  settings(manufacturer: string | null): Settings
  /** Takes what was stored over at once. */
  reload(): Promise<void>
}

export interface SettingChange {
  readonly key: string
  /** As text, whatever the key's type. */
  readonly value: string
  /** Null: global. */
  readonly manufacturer: string | null
}

/** The values then in force, for the scope that was changed. Throws a Refusal naming what was wrong. */
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

/** What holds without it then counts again. Throws a Refusal where nothing is stored. */
export async function forgetSetting(
  deps: SettingsDeps,
  actor: Actor,
  { key, manufacturer }: Omit<SettingChange, 'value'>,
): Promise<void> {
  const target = targetOf({ key, manufacturer })
  await deps.db.transaction(async (tx) => {
    if (!(await deleteSetting(tx, { manufacturer, key })))
      throw new RequestError('not_found', { about: `setting ${target}` })
    await writeAudit(tx, { actor, action: 'settings.forget', target, result: 'ok', details: { key, manufacturer } })
  })
  await deps.reload()
}

function targetOf({ key, manufacturer }: Omit<SettingChange, 'value'>): string {
  return manufacturer === null ? key : `${key} of manufacturer ${manufacturer}`
}
