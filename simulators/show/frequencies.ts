/**
 * The frequencies of simulated receivers. This service's own suggestions at the standard distance produced those of the
 * demo, so that its page of frequencies shows few conflicts. The others are 0.725 MHz apart.
 */

/** Position of a performer -> MHz of the following performers. */
const coordinated: Readonly<Record<string, readonly (readonly [first: number, mhz: string])[]>> = {
  shure: [
    [0, '470.300 470.650 471.075 471.425 492.050 492.750 493.175 493.975 471.925 472.275'],
    [10, '494.375 494.900 495.300 496.550 472.700 496.900 497.550 473.050 473.650 474.050'],
    [20, '474.525 474.875 475.300 476.425 476.850 498.350 499.325 500.075 500.550 477.200'],
    [30, '477.700 500.900 501.325 503.175 504.125 478.050 506.800 507.600'],
    [70, '478.475 479.325 480.425 481.075 481.875'],
    [78, '547.200 550.100'],
    [82, '554.375 555.800'],
    [86, '532.600 533.450 533.950 534.675 589.300 595.050'],
    [94, '531.925 593.475'],
  ],
  sennheiser: [[98, '606.850']],
  lectrosonics: [[130, '491.650 535.625 536.150 536.900']],
}

const byPosition = new Map(
  Object.entries(coordinated).flatMap(([manufacturer, blocks]) =>
    blocks.flatMap(([first, mhz]) =>
      mhz.split(' ').map((frequency, index) => [`${manufacturer} ${first + index}`, frequency] as const),
    ),
  ),
)

/** Returns MHz with three decimals. `firstMhz` is the lowest frequency of the manufacturer. */
export function frequencyAt(manufacturer: string, position: number, firstMhz: number): string {
  // Steps of 0.725 MHz stay on the 25 kHz grid and below 606 MHz, clear of the radio astronomy band.
  return byPosition.get(`${manufacturer} ${position}`) ?? (firstMhz + ((position * 0.725) % 66.7)).toFixed(3)
}
