/** The probes and metrics of a process that polls: `/healthz`, `/readyz` and `/metrics`, with the access rules of the service. */

import { Access } from '../../actions/access/access.ts'
import type { Config } from '../../config.ts'
import { createCache } from '../../platform/cache.ts'
import { childLifetime } from '../../platform/wait.ts'
import type { Service } from '../../service.ts'
import type { CachedResponse } from '../server/response.ts'
import { createServer } from '../server/server.ts'
import { addressOf, toListenError } from './listen.ts'
import { keepCertificate, openTls } from './tls.ts'

export interface Probes {
  /** The URL on which the process listens, with the mount prefix. */
  readonly address: string
  close(): Promise<void>
}

interface ProbeOptions {
  readonly version: string
  /** The folder of the built pages. */
  readonly webRoot: string
}

/** Throws the system's error if the process cannot listen. */
export async function serveProbes(service: Service, config: Config, options: ProbeOptions): Promise<Probes> {
  const { log } = service
  const { host, port } = config.server
  const access = new Access(service)
  const tls = await openTls(config, {})
  const cache = createCache<CachedResponse>({ timeoutMs: () => 0 })
  const stop = childLifetime(service.signal)
  const serverOptions = { ...options, cache, tls: tls?.pair ?? null, handover: stop.signal, hasOnlyProbes: true }
  const { app } = await createServer(config, service, access, serverOptions)
  try {
    await app.listen({ host, port })
  } catch (error) {
    await Promise.all([app.close(), access.close()])
    throw toListenError(error, config.server, 'port')
  }
  const loops = [access.credentials.watch(stop.signal)]
  if (tls !== null) loops.push(keepCertificate(app, tls, log, stop.signal))
  return {
    address: addressOf(app, config),
    async close() {
      service.stop()
      await Promise.all([app.close(), access.close(), ...loops])
    },
  }
}
