import { useEffect } from 'react'
import type { PagedAddress, Received } from './operations.ts'
import { type Filter, pageNumber, queryOf, useSearch, valuesInForce } from './query.ts'
import { type Resource, useResource } from './resource.ts'
import type { Topic } from './topics.ts'

export const pageSize = 50

/** Like `useResource`, with the filters and the page number from the URL. */
export function usePaged<const A extends PagedAddress>(
  address: A,
  filters: readonly Filter[],
  topics: readonly Topic[],
): Resource<Received<'GET', `${A}?${string}`, 'page'>> {
  const [search, change] = useSearch()
  const paging = { page: String(pageNumber(search)), page_size: String(pageSize) }
  const query = queryOf(filters, valuesInForce(filters, search), paging)
  const resource = useResource(`${address}?${query}`, 'page', topics)
  const isBeyondLastPage = resource.problem?.field === 'page'
  useEffect(() => {
    // The list has become shorter.
    if (isBeyondLastPage) change({ page: null })
  }, [isBeyondLastPage, change])
  return resource
}
