/** One page of a long list, as the address asks for it. */

import { useEffect } from 'react'
import type { PageBody } from '../src/model/api.ts'
import { isPage } from './api.ts'
import { type Filter, pageNumber, queryOf, useSearch, valuesInForce } from './query.ts'
import { type Reading, useReading } from './reading.ts'

export const pageSize = 50

/** `path`: of the list, `/api/…`; read again each `everyMs`. */
export function usePaged<Item>(path: string, filters: readonly Filter[], everyMs: number): Reading<PageBody<Item>> {
  const [search, change] = useSearch()
  const paging = { page: String(pageNumber(search)), page_size: String(pageSize) }
  const query = queryOf(filters, valuesInForce(filters, search), paging)
  const reading = useReading(`${path}?${query}`, isPage<Item>, everyMs)
  const isPastTheEnd = reading.problem?.field === 'page'
  useEffect(() => {
    // The list has become shorter than it was when this page was asked for.
    if (isPastTheEnd) change({ page: null })
  }, [isPastTheEnd, change])
  return reading
}
