import type { FrequenciesBody } from '../../src/contract/frequencies.ts'
import type { FrequencyProfileBody } from '../../src/contract/frequency-profiles.ts'
import type { GuardLevel } from '../../src/contract/values.ts'
import type { Resource } from '../app/resource.ts'
import type { ShownCarrier, Tried } from './carriers.ts'
import type { SpectrumControl } from './control.ts'
import { PlaceSection } from './place-section.tsx'
import { Plans } from './plans.tsx'
import { Profiles } from './profiles.tsx'
import { ScanLevels } from './scan-levels.tsx'
import { Scans } from './scans.tsx'
import type { Tab } from './tabs.tsx'
import { TvChannels } from './tv-channels.tsx'
import type { useMeasured, useTvInUse } from './use-frequencies.ts'
import type { PlaceChoice } from './use-place.ts'
import type { useScans } from './use-scans.ts'

interface TabContentProps {
  readonly tab: Exclude<Tab, 'carriers'>
  readonly body: FrequenciesBody
  readonly level: GuardLevel
  readonly control: SpectrumControl
  readonly scans: ReturnType<typeof useScans>
  readonly measured: ReturnType<typeof useMeasured>
  readonly tv: ReturnType<typeof useTvInUse>
  readonly profiles: Resource<readonly FrequencyProfileBody[]>
  readonly place: PlaceChoice
  readonly carriers: readonly ShownCarrier[]
  onTry(frequencies: Tried): void
  onChanged(): Promise<void>
}

/** The tabs beside that of the carriers. */
export function TabContent(props: TabContentProps) {
  const { tab, body, level, control, scans, measured, tv, profiles, place, carriers, onTry, onChanged } = props
  const withConflicts = (reload: () => Promise<void>) => async () => {
    await Promise.all([reload(), onChanged()])
  }
  switch (tab) {
    case 'scans':
      return (
        <>
          <Scans
            {...{ resource: scans.resource, shown: scans.shown, measured: measured.body }}
            onChosen={withConflicts(measured.reload)}
          />
          <ScanLevels control={control} scans={scans.drawn} traces={scans.traces} />
        </>
      )
    case 'tv':
      return (
        <TvChannels
          {...{ region: body.region, inUse: tv.inUse, power: body.tv, scans: scans.resource.body ?? [] }}
          onDone={withConflicts(tv.reload)}
        />
      )
    case 'place':
      return <PlaceSection {...{ place, region: body.region, tvInUse: tv.inUse }} />
    case 'profiles':
      return <Profiles resource={profiles} level={level} onDone={withConflicts(profiles.reload)} />
    case 'plans':
      return <Plans carriers={carriers} onTry={onTry} />
  }
}
