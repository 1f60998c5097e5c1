import {
  listServiceFields,
  type NamedServiceField,
  type NotificationChannelType,
  notificationServiceTable,
} from '../../src/contract/notification-services.ts'
import type { NotificationChannelBody } from '../../src/contract/notifications.ts'
import { hasNewOrigin } from '../../src/domain/access/secrets.ts'
import { parseUrl } from '../app/address.ts'

type Config = NotificationChannelBody['config']

export const securities = ['starttls', 'tls', 'none'] as const
export type Security = (typeof securities)[number]

const smtpPorts: Record<Security, string> = { starttls: '587', tls: '465', none: '25' }

/** The usual port of the encryption, unless another port was entered. */
export function portFor(security: Security, before: string): string {
  return Object.values(smtpPorts).includes(before) ? smtpPorts[security] : before
}

/** The encryption of email stands before the port, because it sets the port. */
export function fieldsOf(type: NotificationChannelType): readonly NamedServiceField[] {
  const fields = listServiceFields(type)
  const position = (field: NamedServiceField) => fields.indexOf(field) - (field.kind === 'security' ? 1.5 : 0)
  return fields.toSorted((a, b) => position(a) - position(b))
}

export function fieldName(name: string): string {
  return `config.${name}`
}

export function fieldText({ name, usual = '' }: NamedServiceField, config: Config | null): string {
  if (config === null) return usual
  const value = config[name] ?? ''
  return Array.isArray(value) ? value.join('\n') : String(value)
}

/** The first required field that is empty. `before` is null for a new notifier. */
export function missingField(
  type: NotificationChannelType,
  before: Config | null,
  values: FormData,
): NamedServiceField | null {
  const isMoved = isMovedConfig(type, before, values)
  const isMissing = (field: NamedServiceField) => {
    const input = inputOf(field, values)
    const stored = field.kind === 'secret' ? fieldText(field, before) : ''
    if (isMoved && stored !== '') return input === '' || input === stored
    return field.isOptional === undefined && input === ''
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

function addressOf(fields: readonly NamedServiceField[], textOf: (field: NamedServiceField) => string): string {
  const texts = new Map(fields.map((field) => [field.name, textOf(field)]))
  const address = texts.get(fields.find(({ kind }) => kind === 'address')?.name ?? '')
  if (address !== undefined) return address.replace(/^mqtt/, 'http')
  return `${texts.get('security') === 'none' ? 'http' : 'https'}://${texts.get('host')}:${texts.get('port')}`
}

/** The changed fields, or all fields of a new notifier. Null removes the stored value. */
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
  const isDestination = ({ kind, name }: NamedServiceField) => kind === 'address' || name === 'host' || name === 'url'
  return fieldName(fieldsOf(type).find(isDestination)?.name ?? '')
}

function inputOf({ name }: NamedServiceField, values: FormData): string {
  return String(values.get(fieldName(name)) ?? '').trim()
}

function parse({ kind }: NamedServiceField, text: string): unknown {
  if (text === '') return null
  if (kind === 'list') return text.split(/[\s,;]+/).filter((item) => item !== '')
  // The service rejects invalid numbers.
  return kind === 'port' && !Number.isNaN(Number(text)) ? Number(text) : text
}

/** Empty if the address is secret. */
export function notifierAddress({ type, config }: Pick<NotificationChannelBody, 'type' | 'config'>): string {
  const shown = notificationServiceTable[type].shown.map((name) => config[name])
  return shown
    .flat()
    .filter((part) => typeof part === 'string' && part !== '')
    .join(' · ')
}

/**
 * The topic of ntfy as a link that its Android app opens, and on the web. The app assumes https
 * (binwiederhier/ntfy: docs/subscribe/phone.md).
 */
export function ntfyAddresses({ url, topic }: Config): { readonly app: string; readonly web: string } {
  const { protocol, host, origin } = new URL(String(url))
  const suffix = protocol === 'http:' ? '?secure=false' : ''
  return { app: `ntfy://${host}/${topic}${suffix}`, web: `${origin}/${topic}` }
}
