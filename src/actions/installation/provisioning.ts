/** Creates and changes records at every start from a file of the configuration. Removes none. */

import Type from 'typebox'
import { notificationServices } from '../../alerts/services/index.ts'
import { type Body, name, oneOf } from '../../contract/schema.ts'
import { defaultSettings, isSettingKey } from '../../contract/settings.ts'
import { type GrantedPermission, grantedPermissions, roles } from '../../contract/values.ts'
import type { Actor } from '../../domain/access/access.ts'
import { usernameKey, usernamePattern } from '../../domain/access/password.ts'
import { mask } from '../../domain/access/secrets.ts'
import { RequestError } from '../../domain/errors.ts'
import { mergeConfig } from '../../domain/notifications/channel.ts'
import { findConflict, isTimeZone, parseSetting } from '../../domain/settings.ts'
import { now } from '../../platform/clock.ts'
import type { Service } from '../../service.ts'
import { writeAudit } from '../../storage/audit.ts'
import type { Tx } from '../../storage/database.ts'
import { changePeople, findTokensByHash, insertToken, insertUser } from '../../storage/people.ts'
import { withSecretErrors } from '../sources/secret-errors.ts'
import { list, record } from './entries.ts'
import { groupSection } from './groups.ts'
import { importInstallation } from './import-installation.ts'
import { notificationChannelSection, notificationRuleSection } from './notifications.ts'
import { settingSection } from './settings.ts'

const role = Type.Enum([...roles], { description: `one of ${roles.join(', ')}` })

const permissions = Type.Optional(list(oneOf(grantedPermissions, 'listen'), 'a list of permissions such as listen'))

const UserEntry = record(
  {
    username: Type.String({
      pattern: usernamePattern,
      description: '1 to 64 letters, digits and . _ @ -, beginning with a letter or digit',
    }),
    role,
    permissions,
    password_hash: Type.String({
      pattern: '^\\$argon2id\\$v=19\\$m=\\d{1,6},t=\\d{1,2},p=\\d{1,2}\\$[A-Za-z0-9+/]{11,86}\\$[A-Za-z0-9+/]{21,86}$',
      description: 'the hash of a password, such as $argon2id$v=19$m=19456,t=2,p=1$…',
    }),
  },
  'a user with username, role, password_hash and, if wanted, permissions',
)

const TokenEntry = record(
  {
    name,
    role,
    permissions,
    sha256: Type.String({
      pattern: '^[0-9a-f]{64}$',
      description: 'the SHA-256 of the whole token, in lower-case hex',
    }),
  },
  'a token with name, role, sha256 and, if wanted, permissions',
)

/** Settings, groups, notification channels and rules are written as in an export. */
export const ProvisioningFile = record(
  {
    users: list(UserEntry, 'a list of users'),
    tokens: list(TokenEntry, 'a list of tokens'),
    settings: settingSection.schema,
    groups: groupSection.schema,
    notification_channels: notificationChannelSection.schema,
    notification_rules: notificationRuleSection.schema,
  },
  'a section of users, tokens, settings, groups, notification_channels and notification_rules',
)
export type ProvisioningFile = Body<typeof ProvisioningFile>

export interface ProvisioningFault {
  readonly path: readonly string[]
  readonly what: string
}

/**
 * Finds what the schema cannot express, in sections that fit it. Unless `isNew`, stored records may complete those of the
 * file.
 */
export function findProvisioningFaults(file: ProvisioningFile, isNew: boolean): ProvisioningFault[] {
  const { users = [], tokens = [], settings = {}, notification_channels: channels = [] } = file
  return [
    ...findRepeated(
      'users',
      'username',
      users.map(({ username }) => usernameKey(username)),
    ),
    ...findRepeated(
      'tokens',
      'sha256',
      tokens.map(({ sha256 }) => sha256),
    ),
    ...findSettingFaults(settings, isNew),
    ...channels.flatMap((channel, index) => findChannelFault(channel, index, isNew)),
    ...findRuleFaults(file, isNew),
  ]
}

function findRepeated(section: string, key: string, values: readonly string[]): ProvisioningFault[] {
  return values.flatMap((value, index) => {
    const first = values.indexOf(value)
    return first === index
      ? []
      : [{ path: [section, String(index), key], what: `the same as ${section}.${first}.${key}; remove one of them` }]
  })
}

function findSettingFaults(settings: NonNullable<ProvisioningFile['settings']>, isNew: boolean): ProvisioningFault[] {
  const faults = Object.entries(settings).flatMap(([key, value]) => {
    const parsed = isSettingKey(key) ? parseSetting(key, String(value)) : { ok: true as const }
    return parsed.ok ? [] : [{ path: ['settings', key], what: `expected ${parsed.expected}` }]
  })
  const key = 'HISTORY_SECONDS_DAYS'
  const conflict = isNew ? findConflict({ ...defaultSettings, ...settings }) : null
  return conflict ? [...faults, { path: ['settings', key], what: conflict }] : faults
}

function findChannelFault(
  { type, config = {} }: NonNullable<ProvisioningFile['notification_channels']>[number],
  index: number,
  isNew: boolean,
): ProvisioningFault[] {
  const service = notificationServices[type]
  try {
    service.parse(withSecretErrors('config.', () => mergeConfig({}, config, service.secrets)))
    return []
  } catch (error) {
    if (!(error instanceof RequestError)) throw error
    const [, field = '', what = error.details ?? ''] = /^config\.(\w+): (.*)$/s.exec(error.details ?? '') ?? []
    const isEntered = field in config && config[field] !== mask
    return isNew || isEntered ? [{ path: ['notification_channels', String(index), 'config', field], what }] : []
  }
}

function findRuleFaults(
  { notification_channels: channels = [], groups = [], notification_rules: rules = [] }: ProvisioningFile,
  isNew: boolean,
): ProvisioningFault[] {
  return rules.flatMap((rule, index) => {
    const { when, escalate } = rule
    const path = ['notification_rules', String(index)]
    const zone = typeof when === 'object' && !isTimeZone(when.time_zone)
    const named = [...rule.notification_channels, ...(escalate?.notification_channels ?? [])]
    const unknown = [
      ...named
        .filter((name) => channels.every((channel) => channel.name !== name))
        .map((name) => `the notification channel ${name}`),
      ...(rule.groups ?? [])
        .filter((title) => groups.every((group) => group.title !== title))
        .map((title) => `the group ${title}`),
    ]
    return [
      ...(zone ? [{ path: [...path, 'when', 'time_zone'], what: 'expected a time zone such as Europe/Berlin' }] : []),
      ...(isNew ? unknown : []).map((subject) => ({ path, what: `${subject} does not exist` })),
    ]
  })
}

/** Throws an ImportError if a value is invalid; nothing is applied then. */
export async function provision(service: Service, file: ProvisioningFile, source: string): Promise<void> {
  const { users = [], tokens = [], ...sections } = file
  const actor: Actor = { kind: 'cli', id: null, name: 'provisioning', role: 'admin', address: null }
  const { db, secrets, outbound } = service
  const importFile = (isDryRun: boolean) =>
    importInstallation(db, secrets, outbound.destinations, actor, { version: 1, ...sections }, { isDryRun, source })
  // A start that changes nothing leaves no audit record.
  const { counts } = await importFile(true)
  await db.transaction(async (tx) => {
    await changePeople(tx)
    for (const user of users) await createUser(tx, actor, user)
    for (const token of tokens) await createToken(tx, actor, token)
  })
  if (Object.values(counts).every(({ created, updated }) => created + updated === 0)) return
  await importFile(false)
  await service.reload()
}

/** A password that was changed since stays. */
async function createUser(
  tx: Tx,
  actor: Actor,
  { username, role, permissions = [], password_hash }: Body<typeof UserEntry>,
) {
  const user = await insertUser(tx, { username, role, permissions, password: password_hash, now: now() })
  if (user === null) return
  await writeAudit(tx, {
    actor,
    action: 'user.create',
    target: `user ${username}`,
    result: 'ok',
    details: { role, ...granted(permissions) },
  })
}

async function createToken(tx: Tx, actor: Actor, { name, role, permissions = [], sha256 }: Body<typeof TokenEntry>) {
  const [known] = await findTokensByHash(tx.query, [sha256])
  if (known !== undefined) return
  const fields = { name, role, permissions, created_by: null, created_at: now(), expires_at: null }
  const { id } = await insertToken(tx, fields, () => sha256)
  const details = { role, ...granted(permissions), expires_at: null }
  await writeAudit(tx, { actor, action: 'token.create', target: `token ${id} ${name}`, result: 'ok', details })
}

function granted(permissions: readonly GrantedPermission[]) {
  return permissions.length > 0 ? { permissions } : {}
}
