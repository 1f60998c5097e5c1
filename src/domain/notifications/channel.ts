import type { NotificationChannelType } from '../../contract/notification-services.ts'
import type { NotificationChannelBody } from '../../contract/notifications.ts'
import { MaskError, mask } from '../access/secrets.ts'
import { escapePattern } from '../text.ts'

export type ChannelConfig = Readonly<Record<string, unknown>>

export interface Signing {
  readonly secret: string
  /** The secret before the last rotation; it also signs until `previous_until` (epoch ms). */
  readonly previous: string | null
  readonly previous_until: number | null
}

export interface NotificationChannel {
  readonly id: number
  readonly name: string
  readonly type: NotificationChannelType
  readonly enabled: boolean
  /** Messages name channels by their slots alone. */
  readonly without_names: boolean
  /** Signs the links in messages that acknowledge an alert; null if messages have none. */
  readonly acknowledge_key: string | null
  readonly config: ChannelConfig
  /** The secrets of the configuration; null if they were encrypted with another key. */
  readonly secrets: ChannelConfig | null
  /** Null for services whose messages are not signed, and if it was encrypted with another key. */
  readonly signing: Signing | null
  readonly version: number
}

/** Messages are also signed with the previous secret for this long. */
export const rotationMs = 24 * 3_600_000

/** The newest first. */
export function signingSecrets({ signing }: NotificationChannel, now: number): readonly string[] {
  if (signing === null) return []
  const { secret, previous, previous_until } = signing
  return previous === null || now >= (previous_until ?? 0) ? [secret] : [secret, previous]
}

export function fullConfig({ config, secrets }: NotificationChannel): ChannelConfig {
  return { ...config, ...secrets }
}

/**
 * Applies a change to a configuration: fields that are not given stay, and `********` keeps a secret. Throws a MaskError
 * that begins with the field if no secret is stored there.
 */
export function mergeConfig(
  stored: ChannelConfig,
  change: ChannelConfig,
  secretNames: readonly string[],
): ChannelConfig {
  const merged: Record<string, unknown> = { ...stored }
  for (const [name, value] of Object.entries(change)) {
    if (!secretNames.includes(name) || value !== mask) merged[name] = value
    else if (stored[name] == null) {
      throw new MaskError(`${name}: ${mask} stands for a stored value, but no value is stored`)
    }
  }
  return merged
}

export function splitConfig(
  config: ChannelConfig,
  secretNames: readonly string[],
): { readonly config: ChannelConfig; readonly secrets: ChannelConfig } {
  const isSecret = ([name, value]: [string, unknown]) => secretNames.includes(name) && value !== null
  const entries = Object.entries(config)
  return {
    config: Object.fromEntries(entries.filter((entry) => !isSecret(entry))),
    secrets: Object.fromEntries(entries.filter(isSecret)),
  }
}

/** Administrators see `********` in place of secrets, others no configuration. */
export function toChannelBody(
  { id, name, type, enabled, without_names, acknowledge_key, config, secrets, version }: NotificationChannel,
  { showsAddresses }: { readonly showsAddresses: boolean },
): NotificationChannelBody {
  const masked = Object.fromEntries(Object.keys(secrets ?? {}).map((field) => [field, mask]))
  return {
    ...{ id, name, type, enabled, without_names, version },
    config: showsAddresses ? { ...config, ...masked } : {},
    acknowledge_link: acknowledge_key !== null,
  }
}

/** Replaces addresses in a sentence: those in configurations, and everything that looks like one. */
export function withoutAddresses(sentence: string, configs: readonly ChannelConfig[]): string {
  const known = configs.flatMap((config) => Object.values(config).flat().flatMap(listAddresses))
  const longestFirst = [...new Set(known)].sort((a, b) => b.length - a.length)
  const withoutKnown = longestFirst.reduce(
    (text, address) => text.replace(new RegExp(escapePattern(address), 'gi'), '…'),
    sentence,
  )
  return withoutKnown.replace(addressPattern, '…')
}

/** URLs, mail addresses, IP addresses and domain names, each with its port. */
const addressPattern =
  /\b[a-z][a-z\d+.-]*:\/\/\S+|\S+@\S+|\[?(?:[\da-f]{0,4}:){2,7}[\da-f.]*\]?(?::\d+)?|\b(?:[a-z\d_-]+\.)+[a-z\d-]*[a-z\d](?::\d+)?/gi

const hostPattern = /^[a-z][a-z\d+.-]*:\/\/(?:[^/?#]*@)?([^/?#]+)/i

function listAddresses(value: unknown): string[] {
  if (typeof value !== 'string' || value.length < 3) return []
  const host = hostPattern.exec(value)?.[1] ?? ''
  return [value, host, host.replace(/:\d+$/, '')].filter((text) => text.length >= 3)
}
