/** Collects what the HTTP server needs from the service, the configuration and the sign-in. */

import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../../config.ts'
import { now } from '../../platform/clock.ts'
import type { Service } from '../../service.ts'
import type { ResponseCache } from '../server/response.ts'
import type { AccessSettings, ServerDeps } from '../server/server.ts'
import type { SignIn } from './sign-in.ts'
import type { Tls } from './tls.ts'

export interface ServerOptions {
  readonly log: FastifyBaseLogger
  readonly version: string
  /** The folder of the built pages. */
  readonly webRoot: string
}

interface ServerParts {
  readonly service: Service
  readonly signIn: SignIn
  readonly cache: ResponseCache
  readonly tls: Tls | null
  /** Aborts when the service stops or drains. */
  readonly handover: AbortSignal
}

export function toServerDeps(config: Config, options: ServerOptions, parts: ServerParts): ServerDeps {
  const { service, signIn, cache, tls, handover } = parts
  const { host, frame_ancestors, strict_transport } = config.server
  const { db, log, identityProvider } = service
  const { credentials, hasher, setupCode, onSetUp } = signIn
  const singleSignOn = config.oidc && identityProvider && { ...config.oidc, provider: identityProvider }
  return {
    ...options,
    service,
    access: { db, log, now, credentials, hasher, setupCode, onSetUp, singleSignOn },
    cache,
    isDraining: () => handover.aborted,
    tls: tls?.pair ?? null,
    guard: { host, requireLogin: config.require_login, publicRead: config.public_read },
    settings: toAccessSettings(config),
    headers: { frameAncestors: frame_ancestors, strictTransport: strict_transport },
  }
}

export function toAccessSettings({ server, rate_limit }: Config): AccessSettings {
  return { allowedHosts: server.allowed_hosts, trustedProxies: server.trusted_proxies, rateLimit: rate_limit }
}
