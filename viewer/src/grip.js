// Which point of which body the mouse is on: of what is drawn, or of what is near it on the screen.
import { Matrix4, Raycaster, Vector2, Vector3 } from "three";

const NEAR = 18; // pixels

// World positions of the vertices of a body's surface, with their triangles; deformed ones turn only with their body.
function surface(body, mesh) {
  const geometry = mesh.geometry, index = geometry.index.array, places = geometry.getAttribute("position");
  const points = [], spot = new Vector3(), nodes = body.skin && geometry.getAttribute("node");
  const known = new Map(), node = (k) => {
    if (!known.has(k)) known.set(k, body.node(k, 0, 0, 0, new Vector3()));
    return known.get(k);
  };
  for (let v = 0; v < places.count; v++) {
    spot.fromBufferAttribute(places, v);
    points.push(nodes ? spot.clone().applyQuaternion(body.quaternion).add(node(nodes.getX(v))) : spot.clone());
  }
  return { points, index };
}

// { body, point } or null.
export function picked(report, event) {
  const canvas = report.renderer.domElement, box = canvas.getBoundingClientRect();
  const at = new Vector2(event.clientX - box.left, event.clientY - box.top);
  const caster = new Raycaster();
  caster.setFromCamera(new Vector2((2 * at.x) / box.width - 1, 1 - (2 * at.y) / box.height), report.camera);
  const shown = new Matrix4().multiplyMatrices(report.camera.projectionMatrix, report.camera.matrixWorldInverse);
  let hit = null, close = null;
  const spot = new Vector3();
  report.bodies.forEach((body, k) => {
    if (body.kind === "Surface") return;
    const { points, index } = surface(body, report.meshes[k]);
    for (let i = 0; i < index.length; i += 3) {
      if (!caster.ray.intersectTriangle(points[index[i]], points[index[i + 1]], points[index[i + 2]], false, spot)) continue;
      const far = spot.distanceTo(caster.ray.origin);
      if (!hit || far < hit.far) hit = { body: k, point: spot.clone(), far };
    }
    for (const point of points) {
      spot.copy(point).applyMatrix4(shown);
      const away = Math.hypot((0.5 + 0.5 * spot.x) * box.width - at.x, (0.5 - 0.5 * spot.y) * box.height - at.y);
      if (spot.z < 1 && away < NEAR && (!close || away < close.away)) close = { body: k, point: point.clone(), away };
    }
  });
  return hit || close;
}

// Where the mouse is in the plane through a point that faces the camera, or the plane of the mechanism.
export function under(report, event, through) {
  const box = report.renderer.domElement.getBoundingClientRect(), caster = new Raycaster();
  const x = (2 * (event.clientX - box.left)) / box.width - 1, y = 1 - (2 * (event.clientY - box.top)) / box.height;
  caster.setFromCamera(new Vector2(x, y), report.camera);
  const normal = report.camera.getWorldDirection(new Vector3());
  const far = through.clone().sub(caster.ray.origin).dot(normal) / caster.ray.direction.dot(normal);
  return caster.ray.at(far, new Vector3());
}
