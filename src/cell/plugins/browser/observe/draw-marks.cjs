/** Runs in the browser. Nothing is fetched or added to the page, so that no rule of the page stands in the way. */
// biome-ignore lint/correctness/noUnusedVariables: a call of it follows when it is evaluated
async function drawMarks(picture, marks) {
  const bytes = Uint8Array.from(atob(picture), (character) => character.charCodeAt(0));
  const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
  const canvas = new OffscreenCanvas(image.width, image.height);
  const context = canvas.getContext('2d');
  context.drawImage(image, 0, 0);
  context.font = 'bold 12px sans-serif';
  context.textBaseline = 'top';
  for (const {
    bid,
    box: [x, y, width, height],
  } of marks) {
    context.setLineDash([4, 3]);
    context.strokeStyle = 'black';
    context.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
    const wide = context.measureText(bid).width + 4;
    const left = Math.min(x, canvas.width - wide);
    const top = Math.max(0, y - 14);
    context.fillStyle = 'black';
    context.fillRect(left, top, wide, 14);
    context.fillStyle = 'white';
    context.fillText(bid, left + 2, top + 2);
  }
  const drawn = new Uint8Array(await (await canvas.convertToBlob()).arrayBuffer());
  let text = '';
  for (let at = 0; at < drawn.length; at += 32768)
    text += String.fromCharCode(...drawn.subarray(at, at + 32768));
  return btoa(text);
}
