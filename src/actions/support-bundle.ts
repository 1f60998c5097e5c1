/**
 * Collects facts about an installation for those who help with a problem. Secrets are always left out. So are the names
 * of people, channels and equipment, unless they are requested.
 */

import { arch, availableParallelism, freemem, loadavg, platform, release, totalmem, uptime } from 'node:os'
import { sql } from 'kysely'
import type { SupportBundleBody } from '../contract/health.ts'
import type { Actor } from '../domain/access/access.ts'
import { listSecrets, mask, maskSecrets } from '../domain/access/secrets.ts'
import { isRecord, type Json } from '../domain/json.ts'
import { fullConfig } from '../domain/notifications/channel.ts'
import { escapePattern } from '../domain/text.ts'
import { commit } from '../platform/build.ts'
import { now } from '../platform/clock.ts'
import type { Service } from '../service.ts'
import { writeAudit } from '../storage/audit.ts'
import type { Database } from '../storage/database.ts'
import { databaseSize } from '../storage/database-size.ts'
import { appliedNames } from '../storage/migrate.ts'
import { listTokens, listUsers } from '../storage/people.ts'
import { keptTables, transientTables } from '../storage/schema.ts'
import { exportInstallation, type Installation } from './installation/export-installation.ts'

export interface BundleSource {
  readonly version: string
  readonly config: Json
  /** In the text format of Prometheus; null if they cannot be read. */
  readonly metrics: string | null
  /** Lines of JSON, the oldest first. */
  readonly log: readonly string[]
  readonly withNames: boolean
}

export async function createSupportBundle(
  service: Service,
  actor: Actor,
  { version, config, metrics, log, withNames }: BundleSource,
): Promise<SupportBundleBody> {
  const { db } = service
  await db.transaction((tx) =>
    writeAudit(tx, {
      actor,
      action: 'support_bundle.create',
      target: 'support_bundle',
      result: 'ok',
      details: { with_names: withNames },
    }),
  )
  const installation = await exportInstallation(service)
  const bundle = {
    created_at: new Date(now()).toISOString(),
    with_names: withNames,
    version: { version, commit },
    system: describeSystem(),
    configuration: {
      file: describeConfig(config),
      manufacturers: installation.manufacturers.map(({ name, ...manufacturer }) => ({
        ...(withNames && { name }),
        ...(maskSecrets(manufacturer) as Json),
      })),
      settings: installation.settings,
    },
    health: { ...service.health() },
    metrics: metrics === null || withNames ? metrics : withoutDescriptions(metrics),
    database: await describeDatabase(service),
    connections: await service.connections.readAll(),
    log: log.map((line) => (withNames ? JSON.parse(line) : shorten(JSON.parse(line)))),
  }
  const secrets = [...listConfigSecrets(config), ...listStoredSecrets(installation)]
  const names = withNames ? [] : await listNames(service, installation, config)
  const redact = createRedaction(secrets, names)
  return mapTexts(bundle, redact) as SupportBundleBody
}

function describeSystem() {
  return {
    platform: platform(),
    release: release(),
    arch: arch(),
    cpus: availableParallelism(),
    load: loadavg(),
    memory_bytes: totalmem(),
    free_memory_bytes: freemem(),
    uptime_seconds: uptime(),
  }
}

async function describeDatabase({ db, files, history }: Service) {
  const migrations = await appliedNames(db.dialect, db.read)
  return {
    engine: db.dialect,
    bytes: await databaseSize(db, files.database).catch(() => null),
    history_bytes: await history.size(),
    schema: migrations.at(-1) ?? null,
    tables: await countRows(db),
  }
}

async function countRows({ read }: Database): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {}
  for (const table of [...keptTables, ...transientTables]) {
    const { rows } = await sql<{ count: number | string }>`select count(*) as count from ${sql.table(table)}`.execute(
      read,
    )
    counts[table] = Number(rows[0]?.count)
  }
  return counts
}

function describeConfig(config: Json): unknown {
  return mapTexts(maskSecrets(config), (text) => {
    const url = URL.canParse(text) ? new URL(text) : null
    if (url === null || [url.username, url.password, url.search].every((part) => part === '')) return text
    return `${url.protocol}//${url.host}${url.pathname}`
  })
}

/** Includes the values of headers, and the address of the heartbeat. */
function listConfigSecrets(config: Json): string[] {
  const { history_remote_write: write, heartbeat } = config
  return [
    ...listSecrets(config).map(({ secret }) => secret),
    ...(isRecord(write) ? listTexts(write.headers) : []),
    ...(isRecord(heartbeat) ? listTexts(heartbeat.url) : []),
    ...listTexts(config).flatMap(listUrlSecrets),
  ]
}

function listUrlSecrets(text: string): string[] {
  if (!URL.canParse(text)) return []
  const { password, searchParams } = new URL(text)
  return [password, ...searchParams.values()]
}

function listStoredSecrets({ manufacturers, notification_channels, planning_center }: Installation): string[] {
  const signing = notification_channels.flatMap((channel) => [channel.signing?.secret, channel.signing?.previous])
  return [
    ...listSecrets(manufacturers).map(({ secret }) => secret),
    // The address of a service may contain the key.
    ...notification_channels.flatMap((channel) => listTexts(fullConfig(channel))),
    ...signing.filter((secret) => typeof secret === 'string'),
    ...listTexts(planning_center.token),
  ]
}

/** Names of metrics whose labels name channels and equipment. */
const descriptions = /^micwatch_\w+_info\{.*\bname=/

function withoutDescriptions(metrics: string): string {
  return metrics
    .split('\n')
    .filter((line) => !descriptions.test(line))
    .join('\n')
}

/** The end of a message, and the texts of other fields, may name anything. */
function shorten({ time, level, msg, source, err }: Json): Json {
  const [message] = typeof msg === 'string' ? msg.split(': ') : []
  return { time, level, msg: message, source, code: isRecord(err) ? err.code : undefined }
}

const nameKeys = /(^|_)(name|title|label|text|note|notes|username|person|performer|role|raw)$/

async function listNames(service: Service, installation: Installation, config: Json): Promise<string[]> {
  const { db, receiverStore, installationName } = service
  const { manufacturers, settings: _, frequency_profiles: _profiles, ...entered } = installation
  const people = { users: await listUsers(db.read), tokens: await listTokens(db.read) }
  const values = [entered, receiverStore.listFacts(), people, manufacturers.flatMap(enteredName), config]
  return [...values.flatMap(listNamesIn), installationName]
}

/** The default name of a manufacturer is its code in other letters, which is no secret. */
function enteredName({ code, plugin, name }: Installation['manufacturers'][number]) {
  return [code, plugin].includes(name.toLowerCase()) ? [] : [{ name }]
}

function listNamesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, item]) =>
    typeof item === 'string' ? (nameKeys.test(key) ? [item] : []) : listNamesIn(item),
  )
}

function listTexts(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(listTexts) : []
}

/** A shorter name is only replaced as a whole word, because "Al" is part of many others. */
const minPartChars = 4

/** Replaces secrets, and names that have a letter. */
function createRedaction(secrets: readonly string[], names: readonly string[]): (text: string) => string {
  const forms = secrets.flatMap((secret) => [secret, encodeURIComponent(secret.toWellFormed())])
  const replacements = [
    ...createPatterns(forms, escapePattern, 'g').map((pattern) => [pattern, mask] as const),
    ...createPatterns(
      names.filter((name) => /\p{L}/u.test(name)),
      toNamePattern,
      'giu',
    ).map((pattern) => [pattern, '(name)'] as const),
  ]
  return (text) => replacements.reduce((redacted, [pattern, substitute]) => redacted.replace(pattern, substitute), text)
}

function toNamePattern(name: string): string {
  const pattern = escapePattern(name)
  return name.length < minPartChars
    ? String.raw`(?<![\p{Script=Latin}\p{N}])${pattern}(?![\p{Script=Latin}\p{N}])`
    : pattern
}

/** One pattern of all texts could exceed the limits of the engine. */
const textsPerPattern = 100

/** The longest texts first, because they may contain others. */
function createPatterns(texts: readonly string[], toPattern: (text: string) => string, flags: string): RegExp[] {
  const longestFirst = [...new Set(texts)].filter((text) => text !== '').sort((a, b) => b.length - a.length)
  const count = Math.ceil(longestFirst.length / textsPerPattern)
  return Array.from({ length: count }, (_, index) => {
    const part = longestFirst.slice(index * textsPerPattern, (index + 1) * textsPerPattern)
    return new RegExp(part.map(toPattern).join('|'), flags)
  })
}

function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value)
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, map))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, mapTexts(item, map)]))
}
