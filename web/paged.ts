/** One page of a long list; the page number is taken from the URL. */

import { useEffect } from 'react'
import type { PageBody } from '../src/domain/api.ts'
import { isPage } from './api.ts'
import { type Filter, pageNumber, queryOf, useSearch, valuesInForce } from './query.ts'
import { type Resource, useResource } from './resource.ts'
import type { Topic } from './topics.ts'

export const pageSize = 50

/** Reads the list at `path` (`/api/…`) after messages of these types, with the filters and the page number from the URL. */
export function usePaged<Item>(
  path: string,
  filters: readonly Filter[],
  topics: readonly Topic[],
): Resource<PageBody<Item>> {
  const [search, change] = useSearch()
  const paging = { page: String(pageNumber(search)), page_size: String(pageSize) }
  const query = queryOf(filters, valuesInForce(filters, search), paging)
  const resource = useResource(`${path}?${query}`, isPage<Item>, topics)
  const isBeyondLastPage = resource.problem?.field === 'page'
  useEffect(() => {
    // The list has become shorter than this page number.
    if (isBeyondLastPage) change({ page: null })
  }, [isBeyondLastPage, change])
  return resource
}
