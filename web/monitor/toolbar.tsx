import { Ellipsis, ListFilter, type LucideIcon, SlidersHorizontal, TriangleAlert } from 'lucide-react'
import { type RefObject, useMemo, useState } from 'react'
import { localSite } from '../../src/domain/equipment/sites.ts'
import type { SortKey } from '../app/columns.ts'
import { useWatchState } from '../app/context.ts'
import { plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useMay } from '../app/session.ts'
import { narrow, useMedia } from '../app/use-media.ts'
import { details, layouts, type Sort, stateFilters, themes, type View } from '../app/view.ts'
import { parseSort } from '../parts/channels/channel-order.ts'
import { NewGroup } from '../parts/channels/dialogs.ts'
import { onDemand } from '../parts/dialogs/on-demand.tsx'
import { useManufacturerNames } from '../parts/equipment/manufacturer-names.tsx'
import { Choice } from '../parts/forms/choice.tsx'
import type { Command } from '../parts/toolbar/commands.ts'
import { GroupChoices } from '../parts/toolbar/group-choices.tsx'
import { Menu } from '../parts/toolbar/menu.tsx'
import { CommandButtons, NotifyButton } from '../parts/toolbar/tools.tsx'
import { KeepAwake } from '../parts/toolbar/wake-lock.tsx'
import { useRegion } from '../parts/use-region.ts'

const ColumnsDialog = onDemand(async () => (await import('./columns-dialog.tsx')).ColumnsDialog)

interface ToolbarProps {
  readonly view: View
  readonly commands: readonly Command[]
  readonly searchField: RefObject<HTMLInputElement | null>
  change(view: Partial<View>): void
}

/** One row on a wide page. On a narrow page, the groups and "problems first" are in the menus. */
export function Toolbar({ view, commands, searchField, change }: ToolbarProps) {
  const [isChoosingColumns, setChoosingColumns] = useState(false)
  const [isGrouping, setGrouping] = useState(false)
  const mayGroup = useMay('operate')
  const isNarrow = useMedia(narrow)
  const region = useRegion<HTMLElement>()
  return (
    <section className="toolbar" ref={region} aria-label={t('live.toolbar.label')}>
      <Search view={view} change={change} field={searchField} isShort={isNarrow} />
      {isNarrow ? null : (
        <>
          <GroupTabs view={view} change={change} />
          <ProblemsFirst view={view} change={change} />
        </>
      )}
      <FilterMenu view={view} change={change} isNarrow={isNarrow} />
      <Menu button={<MenuText icon={SlidersHorizontal} text={t('live.toolbar.label')} />}>
        <Layouts view={view} change={change} />
        <Order view={view} change={change} />
        {view.layout === 'list' ? (
          <button type="button" className="choice" onClick={() => setChoosingColumns(true)}>
            {t('live.columns.title')}
          </button>
        ) : (
          <Choice
            isLabelled={true}
            label={t('live.toolbar.cards')}
            value={view.detail}
            values={details}
            nameOf={(detail) => t(`live.details.${detail}`)}
            onChoice={(detail) => change({ detail })}
          />
        )}
        <Choice
          isLabelled={true}
          label={t('live.toolbar.theme')}
          value={view.theme}
          nameOf={(theme) => t(`live.themes.${theme}`)}
          values={themes}
          onChoice={(theme) => change({ theme })}
        />
        <CommandButtons commands={commands} keys={view.layout === 'list' ? 'f' : 'cf'} />
        <KeepAwake />
      </Menu>
      <Menu button={<Ellipsis className="icon" aria-hidden="true" />} label={t('live.toolbar.moreLabel')}>
        <CommandButtons commands={commands} keys="aq?" />
        {mayGroup ? (
          <button type="button" className="choice" onClick={() => setGrouping(true)}>
            {t('live.newGroup')}
          </button>
        ) : null}
        <NotifyButton />
      </Menu>
      {isChoosingColumns ? <ColumnsDialog {...{ view, change }} onClose={() => setChoosingColumns(false)} /> : null}
      {isGrouping ? (
        <NewGroup
          view={view}
          onCreated={({ id }) => change({ group: id, q: '', state: 'all' })}
          onClose={() => setGrouping(false)}
        />
      ) : null}
    </section>
  )
}

function ProblemsFirst({ view: { sort }, change }: Pick<ToolbarProps, 'view' | 'change'>) {
  const isOn = sort === 'problems'
  return (
    <button
      type="button"
      className="choice"
      aria-pressed={isOn}
      onClick={() => change({ sort: isOn ? 'slot' : 'problems' })}
    >
      <TriangleAlert className="icon" aria-hidden="true" />
      {t('live.sorts.problems')}
    </button>
  )
}

const sorts: readonly SortKey[] = ['slot', 'problems', 'name', 'battery', 'rf']

function sortName(sort: Sort): string {
  const { key, isDescending } = parseSort(sort)
  const name = t(`live.sorts.${key}`)
  return isDescending ? t('live.sortDescending', { sort: name }) : name
}

function MenuText({ icon: Icon, text }: { icon: LucideIcon; text: string }) {
  return (
    <>
      <Icon className="icon" aria-hidden="true" />
      <span className="toolbar-text">{text}</span>
    </>
  )
}

const noFilters = { state: 'all', group: null, manufacturer: null, site: null } as const

/** On a narrow page, its button shows the group. */
function FilterMenu({ view, change, isNarrow }: Pick<ToolbarProps, 'view' | 'change'> & { isNarrow: boolean }) {
  const group = useWatchState(({ groups }) => groups.find(({ id }) => id === view.group)?.title ?? null)
  const count = Object.entries(noFilters).filter(([key, none]) => view[key as keyof typeof noFilters] !== none).length
  const text =
    count === 0 ? t('live.toolbar.filter') : t('parts.list.withCount', { action: t('live.toolbar.filter'), count })
  return (
    <Menu
      className={count === 0 ? 'choice' : 'choice toolbar-filtered'}
      button={
        <>
          <MenuText icon={ListFilter} text={text} />
          {isNarrow && group !== null ? <bdi className="toolbar-group">{group}</bdi> : null}
        </>
      }
    >
      <GroupChoice view={view} change={change} />
      <Choice
        isLabelled={true}
        label={t('live.toolbar.state')}
        value={view.state}
        nameOf={(state) => t(`live.states.${state}`)}
        values={stateFilters}
        onChoice={(state) => change({ state })}
      />
      <Manufacturers view={view} change={change} />
      <Sites view={view} change={change} />
      <button type="button" className="choice" disabled={count === 0} onClick={() => change(noFilters)}>
        {t('parts.filters.clear')}
      </button>
    </Menu>
  )
}

function Layouts({ view, change }: Pick<ToolbarProps, 'view' | 'change'>) {
  return (
    <div className="toolbar-layouts">
      {layouts.map((layout) => (
        <button
          key={layout}
          type="button"
          className="choice"
          aria-pressed={view.layout === layout}
          onClick={() => change({ layout })}
        >
          {t(`live.layouts.${layout}`)}
        </button>
      ))}
    </div>
  )
}

function Order({ view, change }: Pick<ToolbarProps, 'view' | 'change'>) {
  return (
    <Choice<Sort>
      isLabelled={true}
      label={t('live.toolbar.sort')}
      value={view.sort}
      nameOf={sortName}
      values={[...new Set<Sort>([...sorts, view.sort])]}
      onChoice={(sort) => change({ sort })}
    />
  )
}

function GroupChoice({ view, change }: Pick<ToolbarProps, 'view' | 'change'>) {
  const groups = useWatchState((watchState) => watchState.groups)
  if (groups.length === 0) return null
  return (
    <Choice
      isLabelled={true}
      label={t('live.toolbar.group')}
      value={String(view.group ?? '')}
      values={['', ...groups.map(({ id }) => String(id))]}
      nameOf={(id) => groups.find((group) => String(group.id) === id)?.title ?? t('live.toolbar.everything')}
      onChoice={(id) => change({ group: id === '' ? null : Number(id) })}
    />
  )
}

/** The filter menu lists all groups. */
function GroupTabs({ view, change }: Pick<ToolbarProps, 'view' | 'change'>) {
  const hasGroups = useWatchState((watchState) => watchState.groups.length > 0)
  return hasGroups ? <GroupChoices className="group-tabs" isShort={true} {...{ view, change }} /> : null
}

/**
 * Takes effect while the user types. Escape clears it. The URL follows a moment later, so the field shows the URL's
 * search only without the focus.
 */
function Search({
  view,
  change,
  field,
  isShort,
}: Pick<ToolbarProps, 'view' | 'change'> & { field: ToolbarProps['searchField']; isShort: boolean }) {
  const [text, setText] = useState<string | null>(null)
  const type = (next: string) => {
    setText(next)
    change({ q: next.trim() })
  }
  return (
    <input
      ref={field}
      className="choice search"
      type="search"
      aria-label={t('live.toolbar.search')}
      placeholder={t(isShort ? 'live.toolbar.search' : 'live.toolbar.searchHint')}
      value={text ?? view.q}
      maxLength={100}
      onBlur={() => setText(null)}
      onChange={(event) => type(event.target.value)}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return
        type('')
        event.currentTarget.blur()
      }}
    />
  )
}

function Manufacturers({ view: { manufacturer }, change }: Pick<ToolbarProps, 'view' | 'change'>) {
  const codes = useWatchState(
    (watchState) => watchState.health?.manufacturers.map((manufacturer) => manufacturer.code).join(' ') ?? '',
  )
  const nameOf = useManufacturerNames()
  const known = codes === '' ? [] : codes.split(' ')
  if (known.length < 2 && manufacturer === null) return null
  const all = manufacturer === null || known.includes(manufacturer) ? known : [...known, manufacturer]
  return (
    <Choice
      isLabelled={true}
      label={t('live.toolbar.manufacturer')}
      value={manufacturer ?? ''}
      values={['', ...all]}
      nameOf={(code) => (code === '' ? t('filters.all') : nameOf(code))}
      onChoice={(code) => change({ manufacturer: code === '' ? null : code })}
    />
  )
}

/** Nothing if this installation follows no sites. */
function Sites({ view: { site }, change }: Pick<ToolbarProps, 'view' | 'change'>) {
  const sites = useSites()
  if (sites.size === 0 && site === null) return null
  const codes = [...sites.keys()].sort()
  const known = site === null || site === localSite || sites.has(site) ? codes : [...codes, site]
  const nameOf = (code: string) => {
    if (code === '') return t('live.toolbar.allSites')
    return code === localSite ? t('live.toolbar.localSite') : plainText(sites.get(code) ?? code)
  }
  return (
    <Choice
      isLabelled={true}
      label={t('live.toolbar.site')}
      value={site ?? ''}
      values={['', localSite, ...known]}
      nameOf={nameOf}
      onChoice={(code) => change({ site: code === '' ? null : code })}
    />
  )
}

function useSites(): ReadonlyMap<string, string> {
  const receivers = useWatchState((watchState) => watchState.receivers)
  return useMemo(() => {
    const sites = new Map<string, string>()
    for (const { site } of receivers.values()) if (site !== null) sites.set(site.code, site.name)
    return sites
  }, [receivers])
}
