/** Subscriptions whose connections a user has stopped, until a user starts them again. */

import type { Lifetime } from '../platform/wait.ts'
import type { Connections } from './connections.ts'

/** Waits until the subscription is enabled. Returns false if the signal aborts first. */
export async function waitUntilEnabled(
  connections: Connections,
  source: string,
  signal: AbortSignal,
): Promise<boolean> {
  while (!signal.aborted) {
    if (isEnabled(connections, source)) return true
    await connections.waitForChange(source, signal).catch(() => {})
  }
  return false
}

/** True unless the connections of all receivers of the source are stopped. */
export function isEnabled(connections: Connections, source: string): boolean {
  const records = connections.ofSource(source)
  return records.length === 0 || records.some(({ status }) => status !== 'stopped')
}

/**
 * Ends the lifetime once the connections of all receivers are stopped; calls `onChange` after any other change of the
 * records.
 */
export async function watchConnections(
  connections: Connections,
  source: string,
  lifetime: Lifetime,
  onChange: () => Promise<void>,
): Promise<void> {
  const { signal } = lifetime
  const wait = () =>
    connections.waitForChange(source, signal).then(
      () => true,
      () => false,
    )
  // The next wait starts before the change is handled, so that no change is missed.
  for (let next = wait(); await next; ) {
    next = wait()
    if (!isEnabled(connections, source)) lifetime.abort()
    else await onChange()
  }
}
