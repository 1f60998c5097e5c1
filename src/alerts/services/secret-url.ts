/** URLs that are secrets, because knowing one is enough to send messages: of Slack, Discord and Teams. */

import { parseFields, webUrl } from './config-fields.ts'
import type { NotificationService } from './service.ts'

export interface SecretUrlConfig {
  readonly url: string
}

/** What the services with secret URLs have in common. */
export const secretUrlService = {
  secrets: ['url'],
  allowsLinkLocal: false,
  parse: (config) => parseFields(config, { url: webUrl() }),
  addresses: ({ url }) => [new URL(url)],
} as const satisfies Omit<NotificationService<SecretUrlConfig>, 'send'>

/** Parts of this length in a URL are keys. */
const minKeyChars = 16

/** Returns the parts of a URL that a response must not repeat. */
export function secretsOf({ href, pathname, search, searchParams }: URL): readonly string[] {
  const parts = [...pathname.split('/'), ...searchParams.values()].filter((part) => part.length >= minKeyChars)
  return [href, ...(pathname === '/' ? [] : [pathname, pathname + search]), ...parts]
}
