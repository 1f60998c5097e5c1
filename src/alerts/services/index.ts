import {
  listServiceFields,
  type NotificationChannelType,
  notificationChannelTypes,
  type ServiceConfig,
} from '../../contract/notification-services.ts'
import { mask, type NamedSecret, originOf, type SecretUse } from '../../domain/access/secrets.ts'
import { parseFields } from '../../domain/notifications/config-fields.ts'
import type { NotificationMessage } from '../../domain/notifications/message.ts'
import { type Destinations, isHostBlocked, withoutLinkLocal } from '../../upstream/destinations.ts'
import { apprise } from './apprise.ts'
import { discord } from './discord.ts'
import { email } from './email.ts'
import { gotify } from './gotify.ts'
import { mqtt } from './mqtt.ts'
import { ntfy } from './ntfy.ts'
import type { NotificationService, SendKit, SendResult } from './service.ts'
import { slack } from './slack.ts'
import { teams } from './teams.ts'
import { telegram } from './telegram.ts'
import { webhook } from './webhook.ts'

export { createSigningSecret } from './webhook.ts'

type Config = Readonly<Record<string, unknown>>

const services: { readonly [Type in NotificationChannelType]: NotificationService<Type> } = {
  email,
  webhook,
  ntfy,
  slack,
  teams,
  discord,
  telegram,
  gotify,
  apprise,
  mqtt,
}

/** A service whose other functions are called only with the result of its own `parse`. */
export interface AnyNotificationService {
  readonly secrets: readonly string[]
  readonly allowsLinkLocal: boolean
  /** Throws a RequestError that names the field. */
  parse(config: Config): Config
  addresses(config: Config): readonly URL[]
  send(config: Config, message: NotificationMessage, kit: SendKit): Promise<SendResult>
}

export const notificationServices = Object.fromEntries(
  notificationChannelTypes.map((type) => [type, complete(type, services[type])]),
) as Readonly<Record<NotificationChannelType, AnyNotificationService>>

function complete<Type extends NotificationChannelType>(
  type: Type,
  { allowsLinkLocal = false, check, addresses, send }: NotificationService<Type>,
): AnyNotificationService {
  const fields = listServiceFields(type)
  const toConfig = (config: Config) => config as unknown as ServiceConfig<Type>
  return {
    secrets: fields.filter(({ kind }) => kind === 'secret').map(({ name }) => name),
    allowsLinkLocal,
    parse(config) {
      const parsed = parseFields(config, fields, (text) => (URL.canParse(text) ? new URL(text) : null))
      check?.(toConfig(parsed))
      return parsed
    },
    addresses: (config) => addresses?.(toConfig(config)) ?? [new URL(String(config.url))],
    send: (config, message, kit) => send(toConfig(config), message, kit),
  }
}

/** Null if all hosts are allowed. */
export async function findBlockedHost(
  service: AnyNotificationService,
  config: Config,
  destinations: Destinations,
): Promise<string | null> {
  const allowed = service.allowsLinkLocal ? destinations : withoutLinkLocal(destinations)
  for (const url of service.addresses(config)) if (await isHostBlocked(allowed, url)) return url.host
  return null
}

/** Lists the secrets of a configuration, or of a change to it. `********` is not a secret. */
export function listSecrets({ secrets }: AnyNotificationService, config: Config): NamedSecret[] {
  return secrets.flatMap((key) => {
    const secret = config[key]
    return typeof secret === 'string' && secret !== mask ? { key, secret } : []
  })
}

export function listSecretUses(service: AnyNotificationService, config: Config): SecretUse[] {
  return listSecrets(service, config).flatMap((named) =>
    service.addresses(config).map((url) => ({ ...named, origin: originOf(url) })),
  )
}
