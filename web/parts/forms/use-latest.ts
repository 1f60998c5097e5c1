import { useState } from 'react'
import type { Address } from '../../app/operations.ts'
import { useResource } from '../../app/resource.ts'
import type { Topic } from '../../app/topics.ts'

/** Returns the current record of an open form from its list: null if it was deleted, undefined while unknown. */
export function useLatest<Edited extends object>(
  list: Address<'GET'>,
  record: Edited | null,
  topics: readonly Topic[],
  key = 'id' as keyof Edited,
): Edited | null | undefined {
  const { body, readAt } = useResource(list, 'list', topics)
  const [openedAt] = useState(() => Date.now())
  if (body === null || readAt === null || record === null) return undefined
  const found = (body as readonly unknown[] as readonly Edited[]).find((candidate) => candidate[key] === record[key])
  // A list that was read earlier may not contain it yet.
  return found ?? (readAt < openedAt ? undefined : null)
}
