/** A long list, a page at a time: its filters, what can be done with the selected, its rows, or why there are none. */

import type { ReactNode } from 'react'
import { pageSize, usePaged } from '../paged.ts'
import { type BulkAction, BulkActions } from '../parts/bulk-actions.tsx'
import { Empty } from '../parts/empty.tsx'
import { FilterBar } from '../parts/filter-bar.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Pager } from '../parts/pager.tsx'
import { type Filter, filterValues, useSearch } from '../query.ts'
import { type Selection, useSelection } from '../selection.ts'

interface PagedListProps<Item> {
  /** Of the list, `/api/…`. */
  readonly path: string
  readonly everyMs: number
  readonly filters: readonly Filter[]
  /** What it says where it is empty; `noMatch` where that is because of a filter. */
  readonly texts: { readonly none: string; readonly noMatch: string; readonly noneNext?: string }
  /** How much there is of what matters, whatever the filters show. */
  readonly count?: ReactNode
  readonly deeds?: Deeds<Item>
  /** At least one. */
  readonly children: (items: readonly Item[], selection: Selection) => ReactNode
}

interface Deeds<Item> {
  readonly actionsFor: (items: readonly Item[]) => readonly BulkAction[]
  /** Why there are none, for somebody who may not. */
  readonly refusal: string | null
  /** What is to be read again beside the list. */
  readonly onDone?: () => Promise<void>
}

export function PagedList<Item extends { readonly id: number }>(props: PagedListProps<Item>) {
  const { path, everyMs, filters, texts, count: status, deeds, children } = props
  const reading = usePaged<Item>(path, filters, everyMs)
  const [search] = useSearch()
  const isFiltered = Object.keys(filterValues(filters, search)).length > 0
  const reload = async () => {
    await Promise.all([reading.reload(), deeds?.onDone?.()])
  }
  return (
    <>
      <FilterBar filters={filters} />
      {status}
      <Loaded reading={reading}>
        {({ results, count }) => (
          <>
            <Items items={results} deeds={deeds} onDone={reload}>
              {children}
            </Items>
            {results.length > 0 ? null : (
              <Empty title={isFiltered ? texts.noMatch : texts.none} filters={filters}>
                {texts.noneNext === undefined ? null : <p>{texts.noneNext}</p>}
              </Empty>
            )}
            <Pager count={count} shown={results.length} size={pageSize} />
          </>
        )}
      </Loaded>
    </>
  )
}

interface ItemsProps<Item> extends Pick<PagedListProps<Item>, 'deeds' | 'children'> {
  readonly items: readonly Item[]
  onDone(): Promise<void>
}

function Items<Item extends { readonly id: number }>({ items, deeds, onDone, children }: ItemsProps<Item>) {
  const selection = useSelection(items.map(({ id }) => id))
  return (
    <>
      {deeds === undefined ? null : (
        <BulkActions selection={selection} actions={deeds.actionsFor(items)} refusal={deeds.refusal} onDone={onDone} />
      )}
      {items.length === 0 ? null : children(items, selection)}
    </>
  )
}
