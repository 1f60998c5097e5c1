/** The services by which alerts are sent. */

import type { NotificationChannelType } from '../../contract/values.ts'
import { mask, type NamedSecret, originOf, type SecretUse } from '../../domain/access/secrets.ts'
import { type Destinations, isHostBlocked, withoutLinkLocal } from '../../upstream/destinations.ts'
import { apprise } from './apprise.ts'
import { discord } from './discord.ts'
import { email } from './email.ts'
import { gotify } from './gotify.ts'
import { mqtt } from './mqtt.ts'
import { ntfy } from './ntfy.ts'
import type { NotificationService } from './service.ts'
import { slack } from './slack.ts'
import { teams } from './teams.ts'
import { telegram } from './telegram.ts'
import { webhook } from './webhook.ts'

export { createSigningSecret } from './webhook.ts'

type Config = Readonly<Record<string, unknown>>

/** A service whose other functions are called only with what its own `parse` has returned. */
export type AnyNotificationService = NotificationService<Config>

export const notificationServices: Readonly<Record<NotificationChannelType, AnyNotificationService>> = {
  email: erased(email),
  webhook: erased(webhook),
  ntfy: erased(ntfy),
  slack: erased(slack),
  teams: erased(teams),
  discord: erased(discord),
  telegram: erased(telegram),
  gotify: erased(gotify),
  apprise: erased(apprise),
  mqtt: erased(mqtt),
}

function erased<Config>(service: NotificationService<Config>): AnyNotificationService {
  return service as unknown as AnyNotificationService
}

/** Finds the first host of a configuration to which nothing may be sent; null if all are allowed. */
export async function findBlockedHost<Config>(
  service: NotificationService<Config>,
  config: Config,
  destinations: Destinations,
): Promise<string | null> {
  const allowed = service.allowsLinkLocal ? destinations : withoutLinkLocal(destinations)
  for (const url of service.addresses(config)) if (await isHostBlocked(allowed, url)) return url.host
  return null
}

/** Lists the secrets of a configuration, or of a change to it. `********` is none. */
export function listSecrets({ secrets }: AnyNotificationService, config: Config): NamedSecret[] {
  return secrets.flatMap((key) => {
    const secret = config[key]
    return typeof secret === 'string' && secret !== mask ? { key, secret } : []
  })
}

/** Lists the secrets of a configuration with the addresses to which they are sent. */
export function listSecretUses(service: AnyNotificationService, config: Config): SecretUse[] {
  return listSecrets(service, config).flatMap((named) =>
    service.addresses(config).map((url) => ({ ...named, origin: originOf(url) })),
  )
}
