/** One page of a long list; the page number is taken from the URL. */

import { useEffect } from 'react'
import type { PageBody } from '../src/contract/described.ts'
import { isPage } from './api.ts'
import { type Filter, pageNumber, queryOf, useSearch, valuesInForce } from './query.ts'
import { type Resource, useResource } from './resource.ts'

export const pageSize = 50

/** Polls the list at `path` (`/api/…`) every `intervalMs`, with the filters and the page number from the URL. */
export function usePaged<Item>(path: string, filters: readonly Filter[], intervalMs: number): Resource<PageBody<Item>> {
  const [search, change] = useSearch()
  const paging = { page: String(pageNumber(search)), page_size: String(pageSize) }
  const query = queryOf(filters, valuesInForce(filters, search), paging)
  const resource = useResource(`${path}?${query}`, isPage<Item>, intervalMs)
  const isBeyondLastPage = resource.problem?.field === 'page'
  useEffect(() => {
    // The list has become shorter than this page number.
    if (isBeyondLastPage) change({ page: null })
  }, [isBeyondLastPage, change])
  return resource
}
