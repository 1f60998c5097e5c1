/** The probes and metrics of a process that polls: `/healthz`, `/readyz` and `/metrics`, with the access rules of the service. */

import type { Config } from '../../config.ts'
import { createCache } from '../../platform/cache.ts'
import { childLifetime } from '../../platform/wait.ts'
import type { Service } from '../../service.ts'
import type { CachedResponse } from '../server/response.ts'
import { createServer } from '../server/server.ts'
import { addressOf, toListenError } from './listen.ts'
import { type ServerOptions, toServerDeps } from './server-deps.ts'
import { createSignIn } from './sign-in.ts'
import { keepCertificate, openTls } from './tls.ts'

export interface Probes {
  /** The URL on which the process listens, with the mount prefix. */
  readonly address: string
  close(): Promise<void>
}

/** Throws the system's error if the process cannot listen. */
export async function serveProbes(service: Service, config: Config, options: ServerOptions): Promise<Probes> {
  const { log } = options
  const { host, port } = config.server
  const signIn = createSignIn(service, log)
  const tls = await openTls(config, {})
  const cache = createCache<CachedResponse>({ timeoutMs: () => 0 })
  const stop = childLifetime(service.signal)
  const parts = { service, signIn, cache, tls, handover: stop.signal }
  const { app } = await createServer(toServerDeps(config, options, parts), { hasOnlyProbes: true })
  try {
    await app.listen({ host, port })
  } catch (error) {
    await Promise.all([app.close(), signIn.close()])
    throw toListenError(error, config.server)
  }
  const loops = [signIn.credentials.watch(stop.signal)]
  if (tls !== null) loops.push(keepCertificate(app, tls, log, stop.signal))
  return {
    address: addressOf(app, config),
    async close() {
      service.stop()
      await Promise.all([app.close(), signIn.close(), ...loops])
    },
  }
}
