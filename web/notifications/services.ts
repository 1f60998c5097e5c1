import type { NotificationChannelBody } from '../../src/contract/notifications.ts'
import type { NotificationChannelType } from '../../src/contract/values.ts'
import { hasNewOrigin } from '../../src/domain/access/secrets.ts'
import { parseUrl } from '../app/address.ts'

interface ConfigField {
  readonly name: string
  /** `list`: one text per line. `security`: email encryption. `secret`: masked. */
  readonly kind: 'text' | 'address' | 'secret' | 'port' | 'list' | 'security'
  readonly isOptional?: boolean
  readonly usual?: string
}

export const services = {
  email: [
    { name: 'host', kind: 'text' },
    { name: 'security', kind: 'security', usual: 'starttls' },
    { name: 'port', kind: 'port', usual: '587' },
    { name: 'username', kind: 'text', isOptional: true },
    { name: 'password', kind: 'secret', isOptional: true },
    { name: 'from', kind: 'text' },
    { name: 'to', kind: 'list' },
  ],
  webhook: [{ name: 'url', kind: 'address' }],
  ntfy: [
    { name: 'url', kind: 'address', usual: 'https://ntfy.sh' },
    { name: 'topic', kind: 'text' },
    { name: 'token', kind: 'secret', isOptional: true },
    { name: 'username', kind: 'text', isOptional: true },
    { name: 'password', kind: 'secret', isOptional: true },
  ],
  slack: [{ name: 'url', kind: 'secret' }],
  teams: [{ name: 'url', kind: 'secret' }],
  discord: [{ name: 'url', kind: 'secret' }],
  telegram: [
    { name: 'token', kind: 'secret' },
    { name: 'chat_id', kind: 'text' },
    { name: 'server', kind: 'address', isOptional: true },
  ],
  gotify: [
    { name: 'url', kind: 'address' },
    { name: 'token', kind: 'secret' },
  ],
  apprise: [
    { name: 'url', kind: 'address' },
    { name: 'key', kind: 'text', isOptional: true },
    { name: 'tag', kind: 'text', isOptional: true },
    { name: 'urls', kind: 'secret', isOptional: true },
  ],
  mqtt: [
    { name: 'url', kind: 'address' },
    { name: 'topic', kind: 'text', usual: 'micwatch/alerts' },
    { name: 'username', kind: 'text', isOptional: true },
    { name: 'password', kind: 'secret', isOptional: true },
  ],
} as const satisfies Record<NotificationChannelType, readonly ConfigField[]>

/** A service and one of its fields: `email.host`. */
export type FieldKey = {
  [Type in NotificationChannelType]: `${Type}.${(typeof services)[Type][number]['name']}`
}[NotificationChannelType]

type Config = NotificationChannelBody['config']

export const securities = ['starttls', 'tls', 'none'] as const
export type Security = (typeof securities)[number]

const smtpPorts: Record<Security, string> = { starttls: '587', tls: '465', none: '25' }

/** The usual port of the encryption, unless another port was entered. */
export function portFor(security: Security, before: string): string {
  return Object.values(smtpPorts).includes(before) ? smtpPorts[security] : before
}

export function fieldsOf(type: NotificationChannelType): readonly ConfigField[] {
  return services[type]
}

export function fieldName(name: string): string {
  return `config.${name}`
}

export function fieldText({ name, usual = '' }: ConfigField, config: Config | null): string {
  if (config === null) return usual
  const value = config[name] ?? ''
  return Array.isArray(value) ? value.join('\n') : String(value)
}

/** The first required field that is empty. `before` is null for a new channel. */
export function missingField(
  type: NotificationChannelType,
  before: Config | null,
  values: FormData,
): ConfigField | null {
  const isMoved = isMovedConfig(type, before, values)
  const isMissing = (field: ConfigField) => {
    const input = inputOf(field, values)
    const stored = field.kind === 'secret' ? fieldText(field, before) : ''
    if (isMoved && stored !== '') return input === '' || input === stored
    return field.isOptional !== true && input === ''
  }
  return fieldsOf(type).find(isMissing) ?? null
}

/** After a change of address, stored secrets must be entered again. */
export function isMovedConfig(type: NotificationChannelType, before: Config | null, values: FormData): boolean {
  if (before === null) return false
  const fields = fieldsOf(type)
  const stored = addressOf(fields, (field) => fieldText(field, before))
  return hasNewOrigin(
    stored,
    addressOf(fields, (field) => inputOf(field, values)),
    parseUrl,
  )
}

function addressOf(fields: readonly ConfigField[], textOf: (field: ConfigField) => string): string {
  const texts = new Map(fields.map((field) => [field.name, textOf(field)]))
  const address = texts.get(fields.find(({ kind }) => kind === 'address')?.name ?? '')
  if (address !== undefined) return address.replace(/^mqtt/, 'http')
  return `${texts.get('security') === 'none' ? 'http' : 'https'}://${texts.get('host')}:${texts.get('port')}`
}

/** The changed fields, or all fields of a new channel. Null removes the stored value. */
export function changedConfig(
  type: NotificationChannelType,
  before: Config | null,
  values: FormData,
): Record<string, unknown> {
  const changed = fieldsOf(type).filter(
    (field) => before === null || inputOf(field, values) !== fieldText(field, before),
  )
  return Object.fromEntries(changed.map((field) => [field.name, parse(field, inputOf(field, values))]))
}

export function destinationField(type: NotificationChannelType): string {
  const isDestination = ({ kind, name }: ConfigField) => kind === 'address' || name === 'host' || name === 'url'
  return fieldName(fieldsOf(type).find(isDestination)?.name ?? '')
}

function inputOf({ name }: ConfigField, values: FormData): string {
  return String(values.get(fieldName(name)) ?? '').trim()
}

function parse({ kind }: ConfigField, text: string): unknown {
  if (text === '') return null
  if (kind === 'list') return text.split(/[\s,;]+/).filter((item) => item !== '')
  // The service rejects invalid numbers.
  return kind === 'port' && !Number.isNaN(Number(text)) ? Number(text) : text
}

/** Empty if the address is secret. */
export function channelAddress({ type, config }: Pick<NotificationChannelBody, 'type' | 'config'>): string {
  const shown = addressFields[type].map((name) => config[name])
  return shown
    .flat()
    .filter((part) => typeof part === 'string' && part !== '')
    .join(' · ')
}

const addressFields = {
  email: ['to'],
  webhook: ['url'],
  ntfy: ['url', 'topic'],
  slack: [],
  teams: [],
  discord: [],
  telegram: ['chat_id'],
  gotify: ['url'],
  apprise: ['url'],
  mqtt: ['url', 'topic'],
} as const satisfies Record<NotificationChannelType, readonly string[]>
