import type { ReactNode } from 'react'
import type { PageBody } from '../../../src/contract/schema.ts'
import { pageSize } from '../../app/paged.ts'
import { type Filter, filterValues, pageNumber, useSearch } from '../../app/query.ts'
import type { Resource } from '../../app/resource.ts'
import { type Selection, useSelection } from '../../app/selection.ts'
import { Empty } from '../empty.tsx'
import { Loaded } from '../loaded.tsx'
import { type BulkAction, BulkActions } from './bulk-actions.tsx'
import { FilterBar } from './filter-bar.tsx'
import './list.css'
import { t } from '../../app/i18n.ts'

interface PagedListProps<Item> {
  readonly resource: Resource<PageBody<Item>>
  readonly filters: readonly Filter[]
  /** `noMatch` is used when a filter is active. */
  readonly texts: { readonly none: string; readonly noMatch: string; readonly noneNext?: string }
  readonly count?: ReactNode
  readonly actions?: ListActions<Item>
  /** Called with at least one item. */
  readonly children: (items: readonly Item[], selection: Selection) => ReactNode
}

interface ListActions<Item> {
  readonly actionsFor: (items: readonly Item[]) => readonly BulkAction[]
  /** Null if the user may run these actions. */
  readonly refusal: string | null
  readonly onDone?: () => Promise<void>
}

export function PagedList<Item extends { readonly id: number }>(props: PagedListProps<Item>) {
  const { resource, filters, texts, count: status, actions, children } = props
  const [search] = useSearch()
  const isFiltered = Object.keys(filterValues(filters, search)).length > 0
  const reload = async () => {
    await Promise.all([resource.reload(), actions?.onDone?.()])
  }
  return (
    <>
      <FilterBar filters={filters} />
      {status}
      <Loaded resource={resource}>
        {({ results, count }) => (
          <>
            <Items items={results} actions={actions} onDone={reload}>
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

interface ItemsProps<Item> extends Pick<PagedListProps<Item>, 'actions' | 'children'> {
  readonly items: readonly Item[]
  onDone(): Promise<void>
}

function Items<Item extends { readonly id: number }>({ items, actions, onDone, children }: ItemsProps<Item>) {
  const selection = useSelection(items.map(({ id }) => id))
  return (
    <>
      {actions === undefined ? null : (
        <BulkActions
          selection={selection}
          actions={actions.actionsFor(items)}
          refusal={actions.refusal}
          onDone={onDone}
        />
      )}
      {items.length === 0 ? null : children(items, selection)}
    </>
  )
}

/** `shown`: items on this page. `size`: items per page. */
export function Pager({ count, shown, size }: { count: number; shown: number; size: number }) {
  const [search, change] = useSearch()
  const page = pageNumber(search)
  const from = (page - 1) * size + 1
  if (count === 0) return null
  const go = (to: number) => change({ page: to === 1 ? null : String(to) })
  return (
    <nav className="pager" aria-label={t('parts.pager.label')}>
      <span>{t('parts.pager.range', { from, to: from + shown - 1, count })}</span>
      {count <= size && page === 1 ? null : (
        <>
          <button type="button" className="choice" disabled={page === 1} onClick={() => go(page - 1)}>
            {t('parts.pager.previous')}
          </button>
          <button type="button" className="choice" disabled={from + shown - 1 >= count} onClick={() => go(page + 1)}>
            {t('parts.pager.next')}
          </button>
        </>
      )}
    </nav>
  )
}
